// Proofs on generated instances: every property of a verifier, for every draft law it is written for, in exact
// fractions; the first violation of each property is shrunk to an instance a person can check by hand.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <draftproof/properties/finding.hpp>
#include <draftproof/properties/registry.hpp>
#include <draftproof/sim/threads.hpp>

namespace draftproof {

struct ProofOptions {
  int instances = 500;  ///< per verifier and draft law
  std::uint64_t seed = 1;
  int threads = 0;  ///< 0: all processors
  ExplorerLimits limits{};
  const std::atomic<bool>* stop = nullptr;
};

/// How far the output law was from p in total variation, over the instances whose tree was walked whole.
struct Distance {
  Rational largest = 0;
  Instance instance{};  ///< the first on which it is the largest
  int off = 0;          ///< instances on which it is not 0
};

/// What is known of one verifier under one draft law.
struct Proof {
  const AnyVerifier* verifier = nullptr;
  const AnyDrafter* drafter = nullptr;
  int instances = 0;                ///< examined
  std::uint64_t leaves = 0;         ///< branches walked
  double seconds = 0;               ///< wall clock
  std::vector<Finding> findings{};  ///< one per property that applies, in the registry's order
  std::optional<Distance> distance{};

  bool provable() const;             ///< the verifier can be explored: its output law is decided
  bool exact() const;                ///< exact_law held on every instance
  bool kept() const;                 ///< what the scheme promises and can be asked held on every instance
  bool lossy() const;                ///< lossy by design, and seen to be
  const Finding* violation() const;  ///< the first, or null
};

/// The n-th instance of a seed. Families take turns; V is 2 .. 8 and K `fewest_drafts` .. `most_drafts` (at most 4),
/// the largest trees seldom. `several` gives every draft a proposal of its own.
Instance generate_instance(std::uint64_t seed, int n, int most_drafts, bool several, int fewest_drafts = 1);

/// Examines `verifier` on generated instances.
Proof prove(const AnyVerifier& verifier, const AnyDrafter& drafter, const ProofOptions& options);

/// All properties on one given instance, which must be possible for verifier and drafter.
Proof prove_on(const AnyVerifier& verifier, const AnyDrafter& drafter, const Instance& instance,
               const ProofOptions& options);

}  // namespace draftproof
