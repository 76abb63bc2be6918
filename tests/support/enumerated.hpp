// The distribution of a drafter followed by a verifier, by enumeration of every branch, on distributions of any type.
// InstanceAnalysis does the same for registered schemes.
#pragma once

#include <gtest/gtest.h>

#include <draftproof/properties/proof/instance_analysis.hpp>
#include <draftproof/sim/random/explorer.hpp>
#include <draftproof/sim/verifier.hpp>

namespace draftproof {

/// Returns the distribution of the decisions of `verifier` on `distributions` with drafts of `Drafter`.
template <class Drafter, class V, class L>
ExactDistribution<typename L::Scalar> enumerated(const V& verifier, const L& distributions, int drafts) {
  using Scalar = typename L::Scalar;
  ExactDistribution<Scalar> distribution;
  distribution.output.resize(static_cast<std::size_t>(distributions.vocabulary()));
  const auto plan = prepare(verifier, distributions, drafts);
  Token tuple[max_drafts] = {};
  int count = 0;
  Explorer<Scalar> explorer;
  distribution.complete = explorer.explore(
      [&](Explorer<Scalar>& random) {
        count = Drafter{}.draw(distributions, drafts, random, tuple);
        return verify(verifier, DraftedPosition<L>(distributions, tuple, count), plan, random);
      },
      [&](const Leaf<Scalar>& leaf) {
        leaf.each_token([&](Token x, const Scalar& probability) {
          distribution.output[static_cast<std::size_t>(x)] += probability;
          distribution.mass += probability;
          if (among(x, tuple, count)) distribution.draft_emitted += probability;
          if (leaf.verdict.accepted >= 0) distribution.draft_accepted += probability;
        });
      });
  distribution.leaves = explorer.leaves();
  EXPECT_TRUE(distribution.complete);
  return distribution;
}

}  // namespace draftproof
