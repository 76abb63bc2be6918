// Two-step verification of two i.i.d. drafts, with a selection that is optimised among few tokens: an optimal flow
// decides pairs inside the first s tokens by p - q^2; any other pair selects its earlier token.
//
//   s     inside                number of tokens whose pairs are optimised; s = V is the optimum
//   w     plan.pairs            shares and order (verifiers/transport/pair_plan.hpp)
//   p_I   plan.selected.of(x)   law of the selected draft
//
// Cost: for many trials O(V log V) and a flow over s^2 edges once per (p, q), then a look-up, one draw and one flip;
// on fresh rows that flow and two passes, one more for the law of a token outside, and after a refusal the sort
// (verifiers/transport/pair_selection.hpp).
// Acceptance: sum min(p_I, p), at least the optimum less the sum of (p - q^2)+ over the other tokens.
// Source: Khisti et al., arXiv:2410.18234, the truncated program; a reconstruction: the order, the rule outside and
// the bound are derived here, and losslessness is proved here by exploration.
// Correctness: p_I is the law of the selected draft for every s and every flow.
#pragma once

#include <draftproof/verifiers/transport/pair_selection.hpp>
#include <draftproof/verifiers/transport/two_step.hpp>

namespace draftproof::verifiers {

struct TruncatedLp {
  static constexpr Info info{.name = "truncated_lp",
                             .summary = "select one of two i.i.d. drafts, optimised among the first s tokens",
                             .source = "Khisti et al., arXiv:2410.18234, truncated program; reconstruction",
                             .drafts = DraftLaws{"iid"},
                             .fewest_drafts = 2,
                             .most_drafts = 2,
                             .unsupported = {.device = "the plan is made on the host"}};

  int inside = 10;

  template <class L>
  struct Plan {
    std::shared_ptr<const PairPlan<typename L::Scalar>> pairs;
    SelectedDraft<L> selected;
  };

  template <Laws L>
  requires(!FreshLaws<L>) Plan<L> prepare(const L& laws, int)
  const {
    auto pairs = std::make_shared<const PairPlan<typename L::Scalar>>(plan_pairs(laws, inside));
    return {pairs, SelectedDraft<L>(laws, pairs->law)};
  }

  template <Position P, RandomSource R>
  Verdict verify(const P& at, const Plan<typename P::Underlying>& plan, R& random) const {
    return plan.selected.verify(at, plan.pairs->select(at.draft(0), at.draft(1), random), random);
  }

  template <Position P, RandomSource R>
  Verdict verify(const P& at, R& random) const {
    using L = typename P::Underlying;
    const PairChoice<L> choice(at.laws(), inside);
    const Token x = choice.select(at.draft(0), at.draft(1), random);
    if (random.flip(at.target(x), choice.law(x))) return accepted(x, find_draft(at, x));
    return SelectedDraft<L>(at.laws(), plan_pairs(at.laws(), inside).law).refuse(at, x, random);
  }
};

}  // namespace draftproof::verifiers
