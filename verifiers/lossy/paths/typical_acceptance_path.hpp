// Typical acceptance along a path: accepts tokens while they are typical for the target, without a test against the
// proposal, then draws one token from the target. Lossy by design.
//
//   epsilon, delta     of the threshold min(epsilon, delta exp(-H(p))) (verifiers/lossy/typical_acceptance.hpp)
//
// Cost: one pass a position for the threshold, one draw.
// Source: Cai et al. 2024 (Medusa), arXiv:2401.10774, section 2.3.1.
#pragma once

#include <draftproof/sim/info.hpp>
#include <draftproof/verifiers/lossy/typical_acceptance.hpp>
#include <draftproof/verifiers/paths/block/block_rule.hpp>

namespace draftproof::verifiers::lossy::paths {

struct TypicalAcceptancePath {
  static constexpr Info info{
      .name = "typical_acceptance_path",
      .summary = "accept a path while its tokens are typical under p, without a test against q",
      .source = "Cai et al. 2024 (Medusa), arXiv:2401.10774",
      .drafts = DraftSamplings{"iid_paths"},
      .promise = Promise::lossy,
      .most_drafts = 1,
      .derived_from = "token_path"};

  lossy::TypicalAcceptance rule{};

  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    const PlainSteps<L> steps(at);
    int i = 0;
    while (i < steps.length() && static_cast<double>(steps.target(i)) > rule.prepare(steps.distributions(i), 1)) ++i;
    return {steps.node(i), random.emit(steps.distributions(i).residual(steps.zero()))};
  }
};

}  // namespace draftproof::verifiers::lossy::paths
