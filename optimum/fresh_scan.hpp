// The ratio scan for a pair of rows that is used only once. It returns the same optimum as the scan of a ratio table,
// bit for bit, without building or sorting a table. Tokens are put into buckets by ratio; only buckets that can contain
// the least cut are sorted. Small vocabularies are sorted completely.
//
//   b          bucket        tokens whose ratios p / q, as floats, have equal top bits: steps of 1/64 within an octave
//   (P, Q)     ExactMass     p- and q-mass of all tokens of higher ratio, integers in units of 2^-62
//   v(P, Q)    cut_value     cut of the other tokens: 1 + (1 - P) - (1 - Q)^K
//   r          lower_bound_of(b)   lower bound of the ratios in b
//
// Cost: O(V), and a sort of the buckets that are not skipped, which contain all tokens if nearly all ratios are
// equal.
//
// Correctness: inside a bucket b, from its start (P0, Q0) to its end (P1, Q1), p-mass is at most P1 - r (Q1 - Q). On
// this line v is concave, so no cut inside b is below the lesser of v(P1, Q1) and v(P1 - r (Q1 - Q0), Q0). A bucket is
// skipped only if both values exceed the least value at a bucket's end by more than the rounding error.
//
// Error: at most (K + 2) 2^-53 of the optimum in exact arithmetic, plus K 2^-53 because ratios are rounded before they
// are compared.
//
// Source: derived here.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include <draftproof/optimum/iid_acceptance.hpp>

namespace draftproof {

// The minimum of p(S) + 1 - min(1, r(S)^K) over fractional sets S, for masses r that need not sum to 1. It is the
// relaxation behind the bounds for different proposals.
//
//   start    start     p- and r-mass of the tokens that every S contains
//   m(s)               least p-mass at r-mass s: the tokens by rising p / r, the last token in part
//   corners            m(s) - s^K is concave between prefixes, so its minimum up to s = 1 is at a prefix or at s = 1,
//                      inside the token at which r exceeds 1; for s > 1 only m(s) grows
//
// Cost: O(tokens).
//
// Source: derived in docs/optimum.md.

struct MixedMass {
  double target, mixture;
};

struct MixtureCut {
  double value;
  std::size_t tokens;  ///< number of tokens of `rising` in S, including the token at which r exceeds 1
};

/// Returns the minimum over S. `rising` is sorted by rising target / mixture; mixtures are positive.
inline MixtureCut least_mixture_cut(MixedMass start, std::span<const MixedMass> rising, std::size_t drafts) {
  const auto value = [&](const MixedMass& mass) {
    return mass.target + (1 - std::min(1.0, std::pow(mass.mixture, static_cast<double>(drafts))));
  };
  MixtureCut least{value(start), 0};
  for (std::size_t i = 0; i < rising.size(); ++i) {
    const MixedMass before = start;
    start.target += rising[i].target;
    start.mixture += rising[i].mixture;
    double here = value(start);
    if (before.mixture < 1 && start.mixture > 1)
      here =
          before.target + (start.target - before.target) * ((1 - before.mixture) / (start.mixture - before.mixture));
    if (here < least.value) least = {here, i + 1};
  }
  return least;
}

/// Returns the optimum of K = `drafts` >= 1 independent draws of `proposal`. The result is equal to
/// iid_optimum(RatioTable(target, proposal), drafts) in both members.
Optimum fresh_iid_optimum(std::span<const double> target, std::span<const double> proposal, int drafts);

}  // namespace draftproof
