// The precision audit as a gate asks for it: each form of the laws a verifier runs on, at every size of the profile.
//
//   check                              rows                                          limit
//   double at V = 64                   dense                                         1e-12
//   tables at 4 of V = 262144          scattered                                     1e-11
//   fresh rows over all V = 262144     whole: what is emitted is a draw from V       1e-11
//   float32 rows over all V = 32000    whole, entries rounded, read as fresh rows    1e-6
//   double on edge rows                edge                                          1e-12
//
// Limits are derived in precision_audit.hpp; a scheme that is lossless up to tau may be off by tau more.
// Cost: bounded in advance by leaves times V, so that which checks are made depends on no clock.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include <draftproof/properties/proof/finding.hpp>
#include <draftproof/properties/subjects/any_verifier.hpp>

namespace draftproof {

struct PrecisionOptions {
  bool thorough = false;  ///< every size rather than one of each kind
  std::uint64_t seed = 1;
  const std::atomic<bool>* stop = nullptr;
};

/// Whether a law in double is a claim of the scheme: it promises one and can be walked.
bool has_precision(const AnyVerifier& verifier);

struct PrecisionAudit {
  std::vector<GateFinding> findings{};
  double largest = 0;  ///< distance of any form from p, on rows in double
};

/// Checks that are too large for the scheme's plan are left out; `skipped` are walks that had too many leaves.
PrecisionAudit audit_precision(const AnyVerifier& verifier, const AnyDrafter& drafter,
                               const PrecisionOptions& options);

}  // namespace draftproof
