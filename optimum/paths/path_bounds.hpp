// What no verifier of a drafted tree beats, as reports need it: the bounds of two certificates as doubles, rounded
// outwards.
//
//   one shot      E[tau] of the best lossless verifier lies in [lower, upper]
//   whole block   the same for a verifier that knew what the target will say
//
// Cost: tree_program.hpp. Source: docs/optimum.md, "Trees".
#pragma once

#include <optional>

#include <draftproof/optimum/paths/tree_certificate.hpp>

namespace draftproof {

struct PathBounds {
  double lower, upper;                          ///< one shot
  double whole_block_lower, whole_block_upper;  ///< full information
};

/// Of a law's certificates.
PathBounds path_bounds(const TreeCertificate& one_shot, const TreeCertificate& whole_block);

/// Nodes of all trees up to which the bounds take seconds.
inline constexpr std::size_t most_tree_nodes = 40'000;

/// Nothing if the law's trees have more nodes than `most_nodes` together.
std::optional<PathBounds> path_bounds(const TreeLaw& law, std::size_t most_nodes = most_tree_nodes);

}  // namespace draftproof
