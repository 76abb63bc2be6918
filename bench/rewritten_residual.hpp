// Recursive rejection as it is usually written: every rejected draft overwrites the row of p with the normalised
// residual, from which the token is drawn at the end by running sums. The comparison shows the gain of the read-only
// residual.
//
//   r      residual[x]    float, as engines keep it; initially p
//   m      mass           sum of (r - q)+, in double
//
// Cost: three sweeps per rejection (subtract, sum, scale), as in array libraries, and one sweep for the draw.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/sim/simd/dispatch.hpp>

namespace draftproof::benchmarks {

// The benchmark compares algorithms, not compiler options, so GCC compiles this code as with -O3 and also for AVX2.
#if DRAFTPROOF_WIDE && !defined(__clang__)
#define DRAFTPROOF_PEER [[gnu::optimize("O3"), gnu::flatten]]
#else
#define DRAFTPROOF_PEER
#endif

/// Handles one rejected draft: r <- (r - q)+, then r <- r / sum(r).
DRAFTPROOF_PEER inline void rewrite(float* residual, const float* q, std::size_t size) {
  for (std::size_t x = 0; x < size; ++x) residual[x] = std::max(residual[x] - q[x], 0.0F);
  double mass = 0;
  for (std::size_t x = 0; x < size; ++x) mass += double{residual[x]};
  const auto scale = static_cast<float>(1 / mass);
  for (std::size_t x = 0; x < size; ++x) residual[x] *= scale;
}
#if DRAFTPROOF_WIDE
DRAFTPROOF_AVX2 DRAFTPROOF_PEER inline void wide_rewrite(float* residual, const float* q, std::size_t size) {
  rewrite(residual, q, size);
}
#endif

/// Returns the token drawn after `refusals` rejected drafts from one proposal.
inline Token all_refused_by_rewriting(const float* p, const float* q, std::size_t size, int refusals,
                                      std::uint64_t word) {
  static thread_local std::vector<float> residual;
  residual.assign(p, p + size);
  for (int k = 0; k < refusals; ++k) {
#if DRAFTPROOF_WIDE
    if (simd::widest() != simd::Width::scalar) {
      wide_rewrite(residual.data(), q, size);
      continue;
    }
#endif
    rewrite(residual.data(), q, size);
  }
  const double threshold = unit_interval(word);
  double running = 0;
  std::size_t x = 0;
  while (x + 1 < size && (running += residual[x]) <= threshold) ++x;
  return static_cast<Token>(x);
}

}  // namespace draftproof::benchmarks
