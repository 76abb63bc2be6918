// Mutants: wrong draws of a token by its weight. `Hidden` says where a bug does not show.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <type_traits>
#include <vector>

#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/sim/verifier.hpp>

namespace draftproof::mutants {

// Mutant: single-draft sampling whose residual draw compares a float uniform with float running sums, and returns the
// last id if rounding leaves the uniform above all sums.
//
//   u        24 bits, the largest 1 - 2^-24
//   sum      of (p - q)+ (1 / F) in float, left to right     may end at 1 - 2^-24 or below: no sum is above u
//
// Source: sgl-project/sglang#22643.
// Error: the mass that rounding loses goes to token V - 1, whatever its weight; enumeration in exact arithmetic shows
// no error.
// Visible: with the largest uniform, if accepted drafts leave no residual at token V - 1.

struct FallbackToLastId {
  static constexpr Info info{.name = "fallback_to_last_id",
                             .summary = "emit the last id when float running sums end below the uniform",
                             .source = "sgl-project/sglang#22643",
                             .drafts = DraftSamplings{"iid"},
                             .most_drafts = 1,
                             .claims = {.accepts_equal_distributions = true, .one_draft_is_single_draft = true},
                             .unsupported = {.device = "its draw scans the vocabulary in one thread"},
                             .derived_from = "single_draft"};

  template <Position P, RandomSource R>
  Verdict verify(const P& at, R& random) const {
    const Token x = at.draft(0);
    if (random.flip(at.target(x), at.proposal(x))) return accepted(x, 0);
    const auto residual = at.residual(at.one());
    return random.emit(
        FloatSums<decltype(residual)>{residual, at.vocabulary(), static_cast<double>(at.residual_mass(at.one()))});
  }

 private:
  template <class W>
  struct FloatSums {
    const W& weights;
    int vocabulary;
    double total;

    Token draw(std::uint64_t word) const {
      const float u = static_cast<float>(word >> 40) * 0x1p-24f, scale = 1 / static_cast<float>(total);
      float sum = 0;
      Token drawn = no_token;
      weights.for_each([&](Token x, const auto& weight) {
        sum += static_cast<float>(weight) * scale;
        if (drawn == no_token && u < sum) drawn = x;
      });
      return drawn == no_token ? vocabulary - 1 : drawn;
    }
    template <class Visit>
    void for_each(Visit visit) const {
      weights.for_each(visit);
    }
  };
};

// Mutant: draws the token from p by running sums in single precision, left to right, like textbook samplers.
//
//   S_x      sums[x]                     p(0) + ... + p(x), rounded to float after each addition
//   draw     Differences                 smallest x with S_x > u S_(V-1)
//   error    (S_x - S_(x-1)) / S_(V-1)   is drawn in place of p(x)
//
// Cost: V additions once, then O(log V) per draw.
// Source: common to textbook samplers.
// Error: near 1 floats are 2^-24 apart, so a token of probability 2^-26 gets probability 0 or a whole step. The loss
// grows with V.
// Hidden: in fractions, where the sums and so the distribution are exact; only an audit of the floating-point program
// shows the error.

struct FloatRunningSum {
  static constexpr Info info{.name = "float_running_sum",
                             .summary = "draw from p by its running sum in single precision; accepted if drafted",
                             .source = "common to textbook samplers",
                             .drafts = DraftSamplings{"iid"},
                             .unsupported = {.device = "the plan keeps V sums on the host"},
                             .derived_from = "sample_and_match",
                             .wrong_by_rounding = true};

  template <class Number>
  struct Plan {
    std::vector<Number> sums;
  };

  /// The distribution whose weights are the differences of running sums; a token is drawn by bisection.
  template <class Number>
  class Differences {
   public:
    explicit Differences(const std::vector<Number>& sums) : sums_{&sums} {}

    Token draw(std::uint64_t word) const {
      const double total = static_cast<double>(sums_->back());
      if (!(total > 0)) return no_token;
      const double at = unit_interval(word) * total;
      const auto place = std::upper_bound(sums_->begin(), sums_->end(), at, [](double left, const Number& sum) {
        return left < static_cast<double>(sum);
      });
      return static_cast<Token>(place - sums_->begin());
    }
    template <class Visit>
    void for_each(Visit visit) const {
      Number below{0};
      for (std::size_t x = 0; x < sums_->size(); below = (*sums_)[x++])
        if ((*sums_)[x] > below) visit(static_cast<Token>(x), Weight(Weight((*sums_)[x]) - Weight(below)));
    }

   private:
    /// The type of a difference. It is double for float sums, because a difference in float would be rounded again.
    using Weight = std::conditional_t<std::floating_point<Number>, double, Number>;
    const std::vector<Number>* sums_;
  };

  template <Distributions L>
  auto prepare(const L& distributions, int) const {
    using Scalar = typename L::Scalar;
    using Number = std::conditional_t<std::floating_point<Scalar>, float, Scalar>;
    Plan<Number> plan;
    Number running{0};
    for (Token x = 0; x < distributions.vocabulary(); ++x) {
      running += static_cast<Number>(distributions.target(x));
      plan.sums.push_back(running);
    }
    return plan;
  }

  template <Position P, class Number, RandomSource R>
  Verdict verify(const P& at, const Plan<Number>& plan, R& random) const {
    return matched(at, random.emit(Differences<Number>(plan.sums)));
  }
};

// Mutant: sample and match by a race whose clocks can be 0. A token with p = 0 and E = 0 has the key 0 / 0, a NaN, and
// the search for the greatest key returns the NaN.
//
//   E_x      -ln(1 - u)      0 if the uniform is 0
//   key      p(x) / E_x      greatest wins: the exponential race
//
// Source: pytorch/pytorch#192577, where such a token is drawn in one of some hundred draws at V = 152,000.
// Error: a token with p = 0 can be drawn; enumeration in exact arithmetic shows no error.
// Smallest: p=(1 0), all uniforms 0.

struct ZeroExponentialWins {
  static constexpr Info info{.name = "zero_exponential_wins",
                             .summary = "race for p with clocks that may be 0: 0 / 0 wins",
                             .source = "pytorch/pytorch#192577",
                             .drafts = DraftSamplings{"iid"},
                             .unsupported = {.simulate = "each draw takes a logarithm per token",
                                             .device = "a draw takes a logarithm per token"},
                             .derived_from = "sample_and_match"};

  template <Position P, RandomSource R>
  Verdict verify(const P& at, R& random) const {
    if constexpr (requires { random.next(Purpose::emit); })
      return matched(at, {winner(at, random), none_accepted});
    else
      return matched(at, random.emit(at.residual(at.zero())));
  }

 private:
  template <class P, class R>
  static Token winner(const P& at, R& random) {
    Token best = no_token;
    double greatest = -1;
    bool undefined = false;  // whether `greatest` is NaN, which no later key replaces
    for (Token x = 0; x < at.vocabulary(); ++x) {
      const double clock = -std::log1p(-unit_interval(random.next(Purpose::emit)));
      const double key = static_cast<double>(at.target(x)) / clock;
      if (undefined || key <= greatest) continue;
      undefined = std::isnan(key);
      greatest = key;
      best = x;
    }
    return best;
  }
};

}  // namespace draftproof::mutants
