// Zipf laws, the shape of word frequencies: the token of rank r has weight (r + offset)^-exponent. The draft has its
// own exponent, its ranks may be shifted, and each of its weights may have a random factor.
//
//   p(x) ~ (rank(x) + offset)^-exponent
//   q(x) ~ (rank(x) shifted + offset)^-draft_exponent * exp(noise * Gaussian)
//
// Cost: V powers a row. Without noise and shuffle every position is the same.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <vector>

#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_int_distribution.hpp>

#include <draftproof/captures/family.hpp>
#include <draftproof/captures/filter.hpp>
#include <draftproof/captures/philox_engine.hpp>
#include <draftproof/captures/row.hpp>

namespace draftproof::families {

struct Zipf {
  static constexpr std::string_view name = "zipf";
  static constexpr std::string_view about = "Zipf laws with different exponents, ranks shifted or noisy in the draft";

  double vocabulary = 1000, exponent = 1.2, draft_exponent = 1.0, shift = 0, noise = 0.5, shuffle = 0, offset = 0,
         drafts = 1;

  static constexpr auto parameters() {
    using enum ParameterKind;
    return std::array{
        Parameter<Zipf>{"vocabulary", &Zipf::vocabulary, 2, 1 << 20, "tokens", Whole},
        Parameter<Zipf>{"exponent", &Zipf::exponent, 0, 20, "power of the target; 0 is uniform"},
        Parameter<Zipf>{"draft_exponent", &Zipf::draft_exponent, 0, 20, "power of the draft"},
        Parameter<Zipf>{"shift", &Zipf::shift, 0, 1 << 20, "places the draft's ranks are rotated by", Whole},
        Parameter<Zipf>{"noise", &Zipf::noise, 0, 20, "deviation of the draft's log-weights"},
        Parameter<Zipf>{"shuffle", &Zipf::shuffle, 0, 1, "1: tokens in random order, the same in target and draft",
                        Whole},
        Parameter<Zipf>{"offset", &Zipf::offset, 0, 1e6, "added to every rank: flattens the head"},
        Parameter<Zipf>{"drafts", &Zipf::drafts, 1, 64, "different drafts", Whole}};
  }

  RowPair pair(std::uint64_t seed, std::size_t position) const {
    const auto size = static_cast<std::size_t>(vocabulary);
    const std::vector<std::size_t> tokens = order(seed, position);
    const auto law = [&](double power, std::size_t rotation, double deviation, std::uint32_t stream) {
      PhiloxEngine random(seed, position, stream);
      boost::random::normal_distribution<double> gaussian;
      std::vector<double> logits(size);
      for (std::size_t rank = 0; rank < size; ++rank) {
        const double place = static_cast<double>((rank + rotation) % size + 1) + offset;
        logits[tokens[rank]] = -power * std::log(place) + (deviation > 0 ? deviation * gaussian(random) : 0);
      }
      return filtered_softmax(logits, {});
    };
    RowPair rows{law(exponent, 0, 0, 1), {}};
    for (std::uint32_t d = 0; d < static_cast<std::uint32_t>(drafts); ++d)
      rows.proposals.push_back(law(draft_exponent, static_cast<std::size_t>(shift), noise, 2 + d));
    return rows;
  }

 private:
  /// The token of each rank.
  std::vector<std::size_t> order(std::uint64_t seed, std::size_t position) const {
    std::vector<std::size_t> tokens(static_cast<std::size_t>(vocabulary));
    std::iota(tokens.begin(), tokens.end(), std::size_t{0});
    if (shuffle == 0) return tokens;
    PhiloxEngine random(seed, position, 0);
    for (std::size_t last = tokens.size() - 1; last > 0; --last)
      std::swap(tokens[last], tokens[boost::random::uniform_int_distribution<std::size_t>(0, last)(random)]);
    return tokens;
  }
};

}  // namespace draftproof::families
