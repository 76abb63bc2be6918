// Mutant: draws the token from p by running sums in single precision, left to right, like textbook samplers.
//
//   S_x      sums[x]                     p(0) + ... + p(x), rounded to float after each addition
//   draw     Differences                 smallest x with S_x > u S_(V-1)
//   law      (S_x - S_(x-1)) / S_(V-1)   in place of p(x)
//
// Cost: V additions once, then O(log V) a draw.
// Source: class property of textbook samplers.
// Error: near 1 floats are 2^-24 apart, so a token of probability 2^-26 gets probability 0 or a whole step. The loss
// grows with V.
// Hidden: in fractions, where the sums are exact and so is the law; only an audit of the floating-point program sees
// it.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <type_traits>
#include <vector>

#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/sim/verifier.hpp>

namespace draftproof::mutants {

struct FloatRunningSum {
  static constexpr Info info{.name = "float_running_sum",
                             .summary = "draw from p by its running sum in single precision; accepted if drafted",
                             .source = "class property of textbook samplers",
                             .drafts = DraftLaws{"iid"},
                             .unsupported = {.device = "the plan keeps V sums on the host"},
                             .derived_from = "sample_and_match",
                             .wrong_by_rounding = true};

  template <class Number>
  struct Plan {
    std::vector<Number> sums;
  };

  /// Differences of running sums, drawn by bisection.
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
    /// A double for floats, so that no difference is rounded a second time.
    using Weight = std::conditional_t<std::floating_point<Number>, double, Number>;
    const std::vector<Number>* sums_;
  };

  template <Laws L>
  auto prepare(const L& laws, int) const {
    using Scalar = typename L::Scalar;
    using Number = std::conditional_t<std::floating_point<Scalar>, float, Scalar>;
    Plan<Number> plan;
    Number running{0};
    for (Token x = 0; x < laws.vocabulary(); ++x) {
      running += static_cast<Number>(laws.target(x));
      plan.sums.push_back(running);
    }
    return plan;
  }

  template <Position P, class Number, RandomSource R>
  Verdict verify(const P& at, const Plan<Number>& plan, R& random) const {
    return matched(at, random.emit(Differences<Number>(plan.sums)));
  }
};

}  // namespace draftproof::mutants
