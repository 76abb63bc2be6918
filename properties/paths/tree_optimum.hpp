// Optima of registered tree drafters on models that can be enumerated: the law of their trees, the bounds for
// reports, and the oracle that attains them as a verifier.
//
// Default limits: 100,000 branches of the drafter and 40,000 nodes of all trees, seconds at most. They admit three
// i.i.d. paths up to V^L = 27, two up to V^L = 64. Beyond the limits there is no result, and no approximation.
#pragma once

#include <memory>
#include <optional>

#include <draftproof/optimum/paths/certify.hpp>
#include <draftproof/optimum/paths/path_bounds.hpp>
#include <draftproof/optimum/paths/tree_program.hpp>
#include <draftproof/properties/paths/step_law.hpp>
#include <draftproof/properties/subjects/path_erased.hpp>

namespace draftproof {

struct TreeLimits {
  std::uint64_t branches = 100'000;
  std::size_t nodes = most_tree_nodes;
};

/// The law of the trees drafted after `context`; nothing beyond the limits. L is Rows<Rational> or Rows<double>.
template <class L>
std::optional<TreeLaw> enumerate_tree_law(const AnyTreeDrafter& drafter, const ConditionalModel<L>& conditionals,
                                          const TreeShape& shape, int context = 0, TreeLimits limits = {}) {
  TreeLawBuilder<L> builder(conditionals);
  if (explore_trees<L, typename L::Scalar>(drafter, conditionals, shape, context, ExplorerLimits{limits.branches},
                                           builder) == 0)
    return std::nullopt;
  TreeLaw law = builder.law();
  if (law.nodes() > limits.nodes) return std::nullopt;
  return law;
}

/// Bounds on E[tau] of one iteration from `context`; nothing beyond the limits.
template <class L>
std::optional<PathBounds> path_optimum_bounds(const AnyTreeDrafter& drafter, const ConditionalModel<L>& conditionals,
                                              const TreeShape& shape, int context = 0, TreeLimits limits = {}) {
  const auto law = enumerate_tree_law(drafter, conditionals, shape, context, limits);
  if (!law) return std::nullopt;
  return path_bounds(*law, limits.nodes);
}

/// The oracle for the trees drafted after `context` only; null beyond the limits.
template <class L>
std::unique_ptr<AnyPathVerifier> path_oracle(const AnyTreeDrafter& drafter, const ConditionalModel<L>& conditionals,
                                             const TreeShape& shape, int context = 0, TreeLimits limits = {}) {
  const auto law = enumerate_tree_law(drafter, conditionals, shape, context, limits);
  if (!law) return nullptr;
  return std::make_unique<PathVerifierOf<LpOracle>>(
      Kind::verifier, LpOracle{std::make_shared<const OraclePlan>(*law, tree_optimum(*law, Sight::one_shot))});
}

}  // namespace draftproof
