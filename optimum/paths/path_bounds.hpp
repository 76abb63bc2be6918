// Upper limits for verifiers of a drafted tree, for reports: the bounds of two certificates as doubles, rounded
// outwards.
//
//   one shot      E[tau] of the best lossless verifier lies in [lower, upper]
//   whole block   the same for a verifier that knows the target's tokens in advance
//
// Cost: that of tree_program.hpp.
//
// Source: docs/optimum.md, "Trees".
#pragma once

#include <optional>

#include <draftproof/optimum/paths/tree_certificate.hpp>

namespace draftproof {

struct PathBounds {
  /// In accepted tokens a step.
  double lower, upper;                          ///< one shot
  double whole_block_lower, whole_block_upper;  ///< full information
};

/// The bounds of two certificates of one law.
PathBounds path_bounds(const TreeCertificate& one_shot, const TreeCertificate& whole_block);

/// Number of nodes of all trees up to which the bounds take seconds.
inline constexpr std::size_t most_tree_nodes = 40'000;

/// Solves for both certificates. Nothing if the law's trees have more than `most_nodes` nodes together.
/// Throws: std::runtime_error if Clp finds no optimum.
std::optional<PathBounds> path_bounds(const TreeLaw& law, std::size_t most_nodes = most_tree_nodes);

}  // namespace draftproof
