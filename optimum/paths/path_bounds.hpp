// Upper limits for verifiers of a drafted tree, for reports: the bounds of two certificates as doubles, rounded
// outwards.
//
//   one shot      E[tau], the expected number of accepted tokens, of the best lossless verifier lies in [lower, upper]
//   whole block   E[tau] of the best verifier that reads the target's tokens in advance lies in
//                 [whole_block_lower, whole_block_upper]
//
// Cost: as in tree_program.hpp.
//
// Source: docs/optimum.md, "Trees".
#pragma once

#include <optional>

#include <draftproof/optimum/paths/tree_certificate.hpp>

namespace draftproof {

// The optimum of one drafted path in closed form, with its certificate in fractions. Block verification reaches it.
//
//   q(x)     probability that the path runs through x
//   a(xy)    min(q(xy), p(y|x) a(x)), a() = 1: the probability of accepting xy
//   V(x)     1 + sum of p(y|x) V(xy) over the y with p(y|x) a(x) < q(xy): the gain of one more unit of a(x)
//   pi(xy)   V(xy) if p(y|x) a(x) < q(xy), else 0: the price of the limit
//
// Cost: O(prefixes + nodes of all paths).
//
// Correctness: lower == upper. The stops of block verification reach the sum of a, and the prices prove the same
// upper bound.
//
// Source: Sun et al. 2025, arXiv:2403.10444, for the rule; the prices are derived here and checked on every
// certificate.

/// Returns the certificate for Sight::one_shot, with lower == upper.
/// Throws: std::invalid_argument if a tree is not a path.
TreeCertificate block_optimum(const TreeSampling& distribution);

struct PathBounds {
  /// Bounds on E[tau], in accepted tokens per step.
  double lower, upper;                          ///< one shot
  double whole_block_lower, whole_block_upper;  ///< whole block
};

/// Returns the bounds of two certificates of one distribution.
PathBounds path_bounds(const TreeCertificate& one_shot, const TreeCertificate& whole_block);

/// Number of nodes of all trees up to which path_bounds takes seconds; larger programs take longer.
inline constexpr std::size_t most_tree_nodes = 40'000;

/// Computes both certificates and returns their bounds; nullopt if the distribution's trees have more than `most_nodes`
/// nodes together. Throws: std::runtime_error if Clp finds no optimum.
std::optional<PathBounds> path_bounds(const TreeSampling& distribution, std::size_t most_nodes = most_tree_nodes);

}  // namespace draftproof
