// Optima of registered tree drafters on models that can be enumerated: the distribution of their trees, the
// bounds for reports, and the oracle, a verifier that attains them.
//
// Default limits: 100,000 branches of the drafter and 40,000 nodes of all trees, which take seconds at most and allow
// three i.i.d. paths up to V^L = 27, two up to V^L = 64. Beyond the limits the functions return no result, not an
// approximation.
#pragma once

#include <memory>
#include <optional>

#include <draftproof/optimum/paths/certify.hpp>
#include <draftproof/optimum/paths/path_bounds.hpp>
#include <draftproof/optimum/paths/tree_program.hpp>
#include <draftproof/properties/paths/step_distribution.hpp>
#include <draftproof/properties/subjects/path_erased.hpp>

namespace draftproof {

struct TreeLimits {
  std::uint64_t branches = 100'000;
  std::size_t nodes = most_tree_nodes;
};

/// Returns the distribution of the trees drafted after `context`; nullopt beyond the limits. L is
/// Rows<Rational> or Rows<double>.
template <class L>
std::optional<TreeSampling> enumerate_tree_sampling(const AnyTreeDrafter& drafter,
                                                    const ConditionalModel<L>& conditionals, const TreeShape& shape,
                                                    int context = 0, TreeLimits limits = {}) {
  TreeSamplingBuilder<L> builder(conditionals);
  if (explore_trees<L, typename L::Scalar>(drafter, conditionals, shape, context, ExplorerLimits{limits.branches},
                                           builder) == 0)
    return std::nullopt;
  TreeSampling distribution = builder.distribution();
  if (distribution.nodes() > limits.nodes) return std::nullopt;
  return distribution;
}

/// Returns bounds on E[tau] of one iteration from `context`; nullopt beyond the limits.
template <class L>
std::optional<PathBounds> path_optimum_bounds(const AnyTreeDrafter& drafter, const ConditionalModel<L>& conditionals,
                                              const TreeShape& shape, int context = 0, TreeLimits limits = {}) {
  const auto distribution = enumerate_tree_sampling(drafter, conditionals, shape, context, limits);
  if (!distribution) return std::nullopt;
  return path_bounds(*distribution, limits.nodes);
}

/// Returns the oracle for the trees drafted after `context` only; null beyond the limits.
template <class L>
std::unique_ptr<AnyPathVerifier> path_oracle(const AnyTreeDrafter& drafter, const ConditionalModel<L>& conditionals,
                                             const TreeShape& shape, int context = 0, TreeLimits limits = {}) {
  const auto distribution = enumerate_tree_sampling(drafter, conditionals, shape, context, limits);
  if (!distribution) return nullptr;
  return std::make_unique<PathVerifierOf<LpOracle>>(
      Kind::verifier,
      LpOracle{std::make_shared<const OraclePlan>(*distribution, tree_optimum(*distribution, Sight::one_shot))});
}

}  // namespace draftproof
