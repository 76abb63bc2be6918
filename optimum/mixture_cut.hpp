// The least of p(S) + 1 - min(1, r(S)^K) over fractional sets S: the relaxation behind the bounds for different
// proposals, for masses r that need not sum to 1.
//
//   start    start     p- and r-mass that every S holds
//   m(s)               least p-mass at r-mass s: the tokens by rising p / r, the last one in part
//   corners            m(s) - s^K is concave between prefixes, so its minimum up to s = 1 is at a prefix or at s = 1
//                      itself, in the middle of the token with which r passes 1; beyond, only m grows
//
// Cost: O(tokens). Source: derived in docs/optimum.md.
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
  std::size_t tokens;  ///< of `rising` in S, the one that passes 1 included
};

/// `rising` by rising target / mixture, mixtures positive.
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
