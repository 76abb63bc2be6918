// The minimum of p(S) + 1 - min(1, r(S)^K) over fractional sets S, for masses r that need not sum to 1. It is the
// relaxation behind the bounds for different proposals.
//
//   start    start     p- and r-mass of the tokens that every S contains
//   m(s)               least p-mass at r-mass s: the tokens by rising p / r, the last one in part
//   corners            m(s) - s^K is concave between prefixes, so its minimum up to s = 1 is at a prefix or at s = 1,
//                      inside the token at which r exceeds 1; beyond that, only m grows
//
// Cost: O(tokens).
//
// Source: derived in docs/optimum.md.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace draftproof {

struct MixedMass {
  double target, mixture;
};

struct MixtureCut {
  double value;
  std::size_t tokens;  ///< number of tokens of `rising` in S, including the one at which r exceeds 1
};

/// The minimum over S. `rising` is sorted by rising target / mixture; mixtures are positive.
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

}  // namespace draftproof
