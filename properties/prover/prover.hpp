// Proofs on generated instances: every property of a verifier, for every draft law that it is written for, in exact
// fractions. The first violation of each property is shrunk to an instance that a reader can check.
#pragma once

#include <cstdint>

#include <draftproof/properties/proof/proof.hpp>
#include <draftproof/properties/prover/registry.hpp>

namespace draftproof {

using Distance = DistanceOf<Instance>;
using Proof = ProofOf<TokenLevel>;

/// The n-th instance of a seed. Families take turns; V is 2 .. 8, K is `fewest_drafts` .. `most_drafts` (at most 4),
/// and the largest trees are rare. `several` gives every draft its own proposal.
Instance generate_instance(std::uint64_t seed, int n, int most_drafts, bool several, int fewest_drafts = 1);

/// The instances of a proof: options.instances of them, or the level's default number.
std::vector<Instance> instances_for(const AnyVerifier& verifier, const AnyDrafter& drafter,
                                    const ProofOptions& options);

/// Examines `verifier` on generated instances and returns all findings.
Proof prove(const AnyVerifier& verifier, const AnyDrafter& drafter, const ProofOptions& options);

/// Examines all properties on one given instance, which must be possible for verifier and drafter.
Proof prove_on(const AnyVerifier& verifier, const AnyDrafter& drafter, const Instance& instance,
               const ProofOptions& options);

}  // namespace draftproof
