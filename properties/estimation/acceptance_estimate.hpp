// Acceptance of a verifier at one position with far less noise than counting trials: the exact conditional acceptance
// of every draft tuple, tuples from scrambled Sobol points, control variates (replicated_estimate.hpp).
//
//   flag         a draft was accepted, as the scheme says
//   membership   the emitted token is among the drafts
//
// Given its drafts a verifier is walked branch by branch on the table; where it emits, the weights of the drafts and
// the total are all that is looked at. A pick among as many things as there are tokens (the levels of a ladder) is
// drawn with a coordinate of its own instead. Weights that cannot be asked about one token are passed over.
//
// For acceptance and diagnosis only: the error is empirical, so a gate must not stand on it.
#pragma once

#include <optional>

#include <draftproof/properties/estimation/replicated_estimate.hpp>

namespace draftproof {

struct AcceptanceEstimate {
  ReplicatedMean flag, membership;
  std::uint64_t tuples;  ///< walked
  DraftPoints::Form form;
};

/// Whether a scheme's acceptance can be estimated: it can be walked, on tables.
inline bool can_be_estimated(const AnyVerifier& verifier) {
  return verifier.info().unsupported.explore.empty() && verifier.info().unsupported.simulate.empty();
}

/// Nothing after a stop. Throws std::invalid_argument for a scheme that cannot be estimated, or one that takes more
/// branches on a tuple than an explorer does by default.
std::optional<AcceptanceEstimate> estimate_acceptance(const AnyVerifier& verifier, const AnyDrafter& drafter,
                                                      const RatioTable& table, int drafts,
                                                      const EstimateOptions& options);

}  // namespace draftproof
