// The precision audit of a gate: each form of the laws that a verifier runs on, at every size of the profile.
//
//   check                              rows                                          limit
//   double at V = 64                   dense                                         1e-12
//   tables at 4 of V = 262144          scattered                                     1e-11
//   fresh rows over all V = 262144     whole: the emitted token is a draw from V     1e-11
//   float32 rows over all V = 32000    whole, entries rounded, read as fresh rows    1e-6
//   double on edge rows                edge                                          1e-12
//
// Limits are derived in audit.hpp; a scheme that is lossless up to tau may be off by tau more.
//
// Cost: bounded in advance by leaves times V, so the set of checks does not depend on time.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include <draftproof/properties/proof/finding.hpp>
#include <draftproof/properties/subjects/any_verifier.hpp>

namespace draftproof {

struct PrecisionOptions {
  bool thorough = false;  ///< all sizes, instead of one of each kind
  std::uint64_t seed = 1;
  const std::atomic<bool>* stop = nullptr;
};

/// Whether the scheme promises a law in double and can be explored.
bool has_precision(const AnyVerifier& verifier);

struct PrecisionAudit {
  std::vector<GateFinding> findings{};
  double largest = 0;  ///< largest distance of any form from p, on rows in double
};

/// Runs the audit. Checks that are too large for the scheme's plan are omitted; a walk with too many leaves is
/// `skipped`.
PrecisionAudit audit_precision(const AnyVerifier& verifier, const AnyDrafter& drafter,
                               const PrecisionOptions& options);

}  // namespace draftproof
