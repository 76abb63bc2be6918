// The upper bound on acceptance from one set S of tokens (a cut), and the result of a scan of cuts. Scans on host and
// device share this code, so equal masses give equal bits.
//
//   P, Q    target_outside, proposal_outside    masses of the tokens outside S
//   v       cut_value                           p(S) + 1 - q(S)^K
//
// Cost: K multiplications.
// Correctness: error below (K + 2) 2^-53: a difference of two numbers of at most 1, made by at most K + 1 roundings.
#pragma once

#include <cstddef>

#include <draftproof/sim/device/host_device.hpp>

namespace draftproof {

/// The result of a scan.
struct Optimum {
  double acceptance;  ///< largest probability, over lossless verifiers, that the emitted token is a draft
  std::size_t cut;    ///< number of tokens outside the minimising set S, which are the first in the table's order
};

/// Returns p(S) + 1 - q(S)^K from the masses of the tokens outside S.
DRAFTPROOF_DEVICE constexpr double cut_value(double target_outside, double proposal_outside, int drafts) {
  const double inside = 1 - proposal_outside;
  double all_inside = 1;
  for (int k = 0; k < drafts; ++k) all_inside *= inside;
  return 1 + ((1 - target_outside) - all_inside);
}

}  // namespace draftproof
