// Point masses, the laws of greedy decoding. The target has all mass on a random token; the draft has it on the same
// token with probability `agreement`. `leak` is spread evenly over all tokens in both.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <boost/random/uniform_01.hpp>
#include <boost/random/uniform_int_distribution.hpp>

#include <draftproof/captures/family.hpp>
#include <draftproof/captures/philox_engine.hpp>
#include <draftproof/captures/row.hpp>

namespace draftproof::families {

struct OneHot {
  static constexpr std::string_view name = "one_hot";
  static constexpr std::string_view about = "greedy models: point masses that agree or not, with an optional leak";

  double vocabulary = 100, agreement = 0.5, leak = 0;

  static constexpr auto parameters() {
    using enum ParameterKind;
    return std::array{
        Parameter<OneHot>{"vocabulary", &OneHot::vocabulary, 2, 1 << 20, "tokens", Whole},
        Parameter<OneHot>{"agreement", &OneHot::agreement, 0, 1, "probability that both are sure of the same token"},
        Parameter<OneHot>{"leak", &OneHot::leak, 0, 1, "probability spread evenly over all tokens"}};
  }

  RowPair pair(std::uint64_t seed, std::size_t position) const {
    using Pick = boost::random::uniform_int_distribution<std::size_t>;
    PhiloxEngine random(seed, position, 0);
    const auto size = static_cast<std::size_t>(vocabulary);
    const std::size_t target = Pick(0, size - 1)(random);
    // Any other token: skips the target's.
    const std::size_t other = (target + 1 + Pick(0, size - 2)(random)) % size;
    const bool agree = boost::random::uniform_01<double>()(random) < agreement;
    return {peak(target), {peak(agree ? target : other)}};
  }

 private:
  std::vector<double> peak(std::size_t token) const {
    std::vector<double> law(static_cast<std::size_t>(vocabulary), leak / vocabulary);
    law[token] += 1 - leak;
    return law;
  }
};

}  // namespace draftproof::families
