// A race gives rare tokens their share. The probability that a tail of n tokens, a gap of logits below the head, has
// the winner is enclosed between two sums over strata of the head's word.
//
//   G(a)     share of words whose clock is below a, by bisection: clocks are monotone in their word
//   t        clock of the head; the tail wins with 1 - (1 - G(t exp(-gap)))^n
//   true     n exp(-gap) / (1 + n exp(-gap))
//
// Cost: 2^14 strata of two bisections, 64 clocks each.
//
// Correctness: the integrand is monotone in the head's word, so each stratum lies between its ends. Clocks in doubles
// move both bounds by a relative 2^-40 at most (sim/numeric/exponential_variate.hpp).
#pragma once

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <draftproof/properties/components/sampler/sampler_group.hpp>
#include <draftproof/sim/components/first_word.hpp>

namespace draftproof::checks::sampler {

struct TailMass {
  static constexpr std::string_view name = "tail_mass";
  static constexpr std::string_view about = "rare tokens have their share";

  struct Bounds {
    double low = 0, high = 0;
  };

  static std::vector<SamplerCase> cases(std::uint64_t, int) {
    std::vector<SamplerCase> cases;
    for (const int gap : {18, 20}) cases.push_back({.form = SamplerCase::Form::tail, .size = 129'280, .gap = gap});
    return cases;
  }

  static Bounds bounds(const Sampler& sampler, const SamplerCase& one) {
    constexpr std::uint64_t strata = std::uint64_t{1} << 14, width = ~std::uint64_t{0} / strata + 1;
    Bounds sum;
    for (std::uint64_t n = 0; n < strata; ++n) {
      const double first = tail_wins(sampler, one, n * width),
                   last = tail_wins(sampler, one, n * width + (width - 1));
      sum.low += std::min(first, last);
      sum.high += std::max(first, last);
    }
    return {sum.low / static_cast<double>(strata), sum.high / static_cast<double>(strata)};
  }

  static double true_mass(const SamplerCase& one) {
    const double tail = (one.size - 1) * std::exp(-one.gap);
    return tail / (1 + tail);
  }

  static Answer check(const Sampler& sampler, const SamplerCase& one, std::uint64_t& work) {
    if (!sampler.races() || one.form != SamplerCase::Form::tail) return Answer::not_applicable();
    const Bounds found = bounds(sampler, one);
    const double wanted = true_mass(one);
    work += std::uint64_t{1} << 15;
    return Answer::held_if(found.low * (1 - 0x1p-40) <= wanted && wanted <= found.high * (1 + 0x1p-40), [&] {
      return fmt::format("the tail has between {:.4g} and {:.4g}, wanted {:.4g}", found.low, found.high, wanted);
    });
  }

 private:
  static double tail_wins(const Sampler& sampler, const SamplerCase& one, std::uint64_t head) {
    const double bound = sampler.clock(head) * std::exp(-one.gap);
    return -std::expm1((one.size - 1) * std::log1p(-share_below(sampler, bound)));
  }

  /// G(bound), for clocks that are monotone in their word.
  static double share_below(const Sampler& sampler, double bound) {
    constexpr std::uint64_t last = ~std::uint64_t{0};
    const bool rises = sampler.clock(0) < sampler.clock(last);
    const auto passed = first_word([&](std::uint64_t word) { return (sampler.clock(word) < bound) != rises; });
    const double before = passed ? static_cast<double>(*passed) * 0x1p-64 : 1.0;
    // Counted from the other end, so that a small share keeps its digits.
    return rises ? before : (passed ? static_cast<double>(last - *passed + 1) * 0x1p-64 : 0.0);
  }
};

}  // namespace draftproof::checks::sampler
