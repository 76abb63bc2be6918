// The law of a drafter followed by a verifier on laws of any type, by an enumeration of every branch. For registered
// schemes on the framework's laws: properties/proof/instance_analysis.hpp.
#pragma once

#include <gtest/gtest.h>

#include <draftproof/properties/proof/instance_analysis.hpp>
#include <draftproof/sim/random/explorer.hpp>
#include <draftproof/sim/verifier.hpp>

namespace draftproof {

/// The law of the decisions of `verifier` on `laws` with drafts of `Drafter`.
template <class Drafter, class V, class L>
ExactLaw<typename L::Scalar> enumerated(const V& verifier, const L& laws, int drafts) {
  using Scalar = typename L::Scalar;
  ExactLaw<Scalar> law;
  law.output.resize(static_cast<std::size_t>(laws.vocabulary()));
  const auto plan = prepare(verifier, laws, drafts);
  Token tuple[max_drafts] = {};
  int count = 0;
  Explorer<Scalar> explorer;
  law.complete = explorer.explore(
      [&](Explorer<Scalar>& random) {
        count = Drafter{}.draw(laws, drafts, random, tuple);
        return verify(verifier, DraftedPosition<L>(laws, tuple, count), plan, random);
      },
      [&](const Leaf<Scalar>& leaf) {
        leaf.each_token([&](Token x, const Scalar& probability) {
          law.output[static_cast<std::size_t>(x)] += probability;
          law.mass += probability;
          if (among(x, tuple, count)) law.membership += probability;
          if (leaf.verdict.accepted >= 0) law.flag += probability;
        });
      });
  law.leaves = explorer.leaves();
  EXPECT_TRUE(law.complete);
  return law;
}

}  // namespace draftproof
