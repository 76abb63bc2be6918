// Acceptance of a verifier at one position with much less noise than from counted trials: the exact conditional
// acceptance of every draft tuple, tuples from scrambled Sobol points, control variates (replicated_estimate.hpp).
//
//   flag         a draft was accepted, by the scheme's own flag
//   membership   the emitted token is among the drafts
//
// Given its drafts, a verifier is walked branch by branch on the table. At an emission only the weights of the drafts
// and the total are read. A pick among as many items as there are tokens (the levels of a ladder) is drawn with its
// own coordinate instead. Weights that cannot be evaluated at one token are enumerated.
//
// The error is empirical, so this serves acceptance and diagnosis only and not a gate.
#pragma once

#include <optional>

#include <draftproof/properties/estimation/replicated_estimate.hpp>

namespace draftproof {

struct AcceptanceEstimate {
  ReplicatedMean flag, membership;
  std::uint64_t tuples;  ///< number of tuples walked
  DraftPoints::Form form;
};

/// Whether a scheme's acceptance can be estimated: it can be explored, and simulated on tables.
inline bool can_be_estimated(const AnyVerifier& verifier) {
  return verifier.info().precision_audited() && verifier.info().unsupported.explore.empty() &&
         verifier.info().unsupported.simulate.empty();
}

/// The estimate; nothing after a stop. Throws: std::invalid_argument for a scheme that cannot be estimated, or one
/// with more branches on a tuple than an explorer's default limit.
std::optional<AcceptanceEstimate> estimate_acceptance(const AnyVerifier& verifier, const AnyDrafter& drafter,
                                                      const RatioTable& table, int drafts,
                                                      const EstimateOptions& options);

}  // namespace draftproof
