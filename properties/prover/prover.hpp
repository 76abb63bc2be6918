// Proofs on generated instances: every property of a verifier, for every draft sampling that it is written for,
// in exact fractions. The first failure of each property is shrunk to an instance that can be checked by hand.
#pragma once

#include <cstdint>

#include <draftproof/properties/proof/proof.hpp>
#include <draftproof/properties/prover/registry.hpp>

namespace draftproof {

using Distance = DistanceOf<Instance>;
using Proof = ProofOf<TokenLevel>;

/// Returns the n-th instance of a seed. Families alternate; V is 2 .. 8, K is `fewest_drafts` .. `most_drafts`
/// (at most 4), and the largest trees are rare. `several` gives every draft a separate proposal.
Instance generate_instance(std::uint64_t seed, int n, int most_drafts, bool several, int fewest_drafts = 1);

/// Returns the instances of a proof: options.instances, or the level's default number.
std::vector<Instance> instances_for(const AnyVerifier& verifier, const AnyDrafter& drafter,
                                    const ProofOptions& options);

/// Examines `verifier` on generated instances and returns all findings.
Proof prove(const AnyVerifier& verifier, const AnyDrafter& drafter, const ProofOptions& options);

/// Checks all properties on one given instance, which must be possible for verifier and drafter.
Proof prove_on(const AnyVerifier& verifier, const AnyDrafter& drafter, const Instance& instance,
               const ProofOptions& options);

}  // namespace draftproof
