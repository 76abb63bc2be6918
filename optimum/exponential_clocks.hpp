// The largest acceptance of any lossless verifier of K drafts without replacement, at any V. The probability that all
// drafts lie in S has no closed form for K > 2. A race of exponential clocks gives it as one integral, and one grid
// of times serves every set that can be the least cut.
//
//   c        prefix().proposal     q-mass outside S: the rate of the first clock outside S
//   N_S(t)   counts                number of tokens of S whose clock has rung by time t, each at rate q
//   missed   missed()              Pr(not all drafts in S) = integral over t > 0 of c e^(-ct) Pr(N_S(t) < K) dt
//   alpha*                         min over S of p(S) + missed(S), over the sets of lowest ratios p / q
//
// Cost: O(V K M), M = 90 to 500 nodes by K and by the spread of q.
//
// Source: derived in docs/optimum.md: the race, the sufficiency of these sets, and the errors.
//
// Error: below 1e-13 of the integral itself, plus V 2^-53 of rounding at worst; below 1e-15 measured at V = 128,256.
#pragma once

#include <draftproof/optimum/iid_acceptance.hpp>

namespace draftproof {

/// The optimum for K = `drafts` >= 1 draws of the table's first proposal without replacement. If the support of q has
/// fewer than K tokens, the tuple ends early.
Optimum without_replacement_optimum(const RatioTable& table, int drafts);

/// Pr(not all drafts in S) for each S = the tokens of the table's order from j on, j = 0 .. size.
std::vector<double> missed_without_replacement(const RatioTable& table, int drafts);

}  // namespace draftproof
