// Proofs of verifiers of paths on generated small models, as in properties/prover/prover.hpp, for every tree
// sampling that a verifier is written for.
#pragma once

#include <cstdint>

#include <draftproof/properties/instances/path_instance.hpp>
#include <draftproof/properties/proof/proof.hpp>
#include <draftproof/properties/prover/registry.hpp>

namespace draftproof {

using PathProof = ProofOf<BlockLevel>;

/// Limits of the small models of a proof.
struct PathSizes {
  int fewest_drafts = 1, most_drafts = 3;
  /// largest number of trees that can be drafted; one instance in thirty may have four times as many
  int most_trees = 192;
  bool stem = false;            ///< whether the drafter uses TreeShape::stem
  bool branches = false;        ///< whether the drafter uses TreeShape::branching
  bool distinct = false;        ///< whether siblings are drawn without replacement
  bool fixed = false;           ///< whether there is one tree, of any size; K then counts its nodes
  bool fixed_children = false;  ///< whether the drafter uses TreeShape::fixed
  bool nodes = false;           ///< whether the drafter uses TreeShape::nodes
  bool shared_suffix = false;   ///< whether one path is drawn, whatever K is
};

/// Returns the default limits with the features that the drafter uses.
constexpr PathSizes sizes_of(const TreeDrafterInfo& drafter) {
  return {.stem = drafter.has_stem,
          .branches = drafter.branches,
          .distinct = drafter.distinct_siblings,
          .fixed = drafter.fixed,
          .fixed_children = drafter.has_fixed_children,
          .nodes = drafter.prunes,
          .shared_suffix = drafter.shared_suffix};
}

/// Returns the n-th small model of a seed. Families of rows alternate. In a quarter of the models the rows are the same
/// after every prefix, in a quarter they repeat along a path, in a quarter they differ between prefixes as much as
/// possible. V is 2 .. 4, L is 1 .. 4. A quarter of the models has several children below the second level, if scheme
/// and drafter allow it; of separate paths one model in 24 has them at V = 3.
PathInstance generate_path_instance(std::uint64_t seed, int n, const PathSizes& sizes);

/// Returns the instances of a proof: options.instances, or the level's default number.
std::vector<PathInstance> instances_for(const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter,
                                        const ProofOptions& options);

/// Examines `verifier` on generated instances and returns all findings.
PathProof prove(const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter, const ProofOptions& options);

/// Checks all properties on one given instance, which must be possible for verifier and drafter.
PathProof prove_on(const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter, const PathInstance& instance,
                   const ProofOptions& options);

}  // namespace draftproof
