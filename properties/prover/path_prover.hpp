// Proofs of verifiers of paths on generated small models: as properties/prover/prover.hpp, for every tree law that a
// verifier is written for.
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
  int most_trees = 192;   ///< bound of the trees that can be drafted; one instance in thirty has four times that
  bool stem = false;      ///< whether the drafter uses TreeShape::stem
  bool branches = false;  ///< whether the drafter uses TreeShape::branching
  bool distinct = false;  ///< whether siblings are drawn without replacement
  bool fixed = false;     ///< whether there is one tree, of any size; K then counts its nodes
};

/// The default limits with what the drafter uses.
constexpr PathSizes sizes_of(const TreeDrafterInfo& drafter) {
  return {.stem = drafter.has_stem,
          .branches = drafter.branches,
          .distinct = drafter.distinct_siblings,
          .fixed = drafter.fixed};
}

/// The n-th small model of a seed. Families take turns for the rows. A quarter of the models has no context, in a
/// quarter the rows repeat along a path, in a quarter they are as different per prefix as they can be. V is 2 .. 4, L
/// is 1 .. 4. A quarter has several children below the second level, where scheme and drafter can have them.
PathInstance generate_path_instance(std::uint64_t seed, int n, const PathSizes& sizes);

/// The instances of a proof: options.instances of them, or the level's default number.
std::vector<PathInstance> instances_for(const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter,
                                        const ProofOptions& options);

/// Examines `verifier` on generated instances and returns all findings.
PathProof prove(const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter, const ProofOptions& options);

/// Examines all properties on one given instance, which must be possible for verifier and drafter.
PathProof prove_on(const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter, const PathInstance& instance,
                   const ProofOptions& options);

}  // namespace draftproof
