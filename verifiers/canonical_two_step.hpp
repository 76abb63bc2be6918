// The canonical architecture of multi-draft sampling: selects one of the drafts by weights and verifies it as a
// single draft. The weights come from an optimal flow, so the scheme reaches the optimum of its draft sampling.
//
//   A           core->drafts.sets[i]     set of the drafts
//   beta_y(A)   core->share[i] / Q(A)    probability of selecting y from A; unassigned mass goes to A's first token
//   p_I         plan.selected.of(y)      distribution of the selected draft, sum over A of Q(A) beta_y(A)
//
// Cost: one enumeration of the draft sampling and one flow per (p, q, K); one draw over |A| numbers and one flip per
// trial. Acceptance: sum min(p_I, p), the value of the flow: p_I is at least the flow into every token, and the flow
// into a token is at most p.
// Source: Khisti et al., arXiv:2410.18234 (read in secondary sources); weights from a flow over sets derived here.
// Correctness: p_I is summed from the same shares that select the draft, so the scheme is lossless for all weights. A
// plan is valid for one draft sampling only, so each draft sampling has its own type.
// Throws: EnumerationCut from prepare if there are too many draft tuples to enumerate.
#pragma once

#include <draftproof/verifiers/optimal_transport.hpp>
#include <draftproof/verifiers/transport/two_step.hpp>

namespace draftproof::verifiers {

/// The plan: selects one draft with the probabilities that core->share gives for the drafted set, and verifies it as a
/// single draft.
template <class L>
struct TwoStepPlan {
  using Scalar = typename L::Scalar;

  TwoStepPlan(const L& distributions, TransportPlan<Scalar> shares)
      : core{std::make_shared<const TransportPlan<Scalar>>(std::move(shares))},
        selected{distributions, core->served} {}

  template <class P, class R>
  Verdict verify(const P& at, R& random) const {
    const auto set = core->drafts.of(at.draft_data(), at.drafts());
    if (set == core->drafts.size()) return {};  // an empty verdict reports that these drafts have probability 0
    return selected.verify(at, core->drafts.sets[set][core->pick(set, random)], random);
  }

  std::shared_ptr<const TransportPlan<Scalar>> core;
  SelectedDraft<L> selected;
};

template <class Drafter>
struct CanonicalTwoStepOf {
  template <Distributions L>
  TwoStepPlan<L> prepare(const L& distributions, int drafts) const {
    using Scalar = typename L::Scalar;
    auto shares = plan_transport<Scalar>(draft_sets<Drafter>(distributions, drafts), target_row(distributions));
    shares.spend_spare();
    return {distributions, std::move(shares)};
  }
  template <Position P, RandomSource R>
  Verdict verify(const P& at, const TwoStepPlan<typename P::Underlying>& plan, R& random) const {
    return plan.verify(at, random);
  }
};

struct CanonicalTwoStep : CanonicalTwoStepOf<drafters::Iid> {
  static constexpr Info info{
      .name = "canonical_two_step",
      .summary = "select an i.i.d. draft by the weights of an optimal flow, then verify it as a single draft",
      .source = "Khisti et al., arXiv:2410.18234; weights from a flow derived here",
      .drafts = DraftSamplings{"iid"},
      .claims = {.accepts_equal_distributions = true,
                 .one_draft_is_single_draft = true,
                 .emitted_drafts_are_accepted = true,
                 .more_drafts_never_hurt = true},
      .unsupported = enumerated_plan,
      .ranks_tokens = true};
};

}  // namespace draftproof::verifiers
