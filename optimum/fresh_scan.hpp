// The ratio scan on rows that are used once. It returns the same optimum as a ratio table, bit for bit, without
// building or sorting one. Tokens go into buckets by ratio; only buckets that can hold the least cut are sorted.
// Small vocabularies are sorted completely.
//
//   b          bucket        tokens whose p / q, as a float, shares its top bits: steps of 1/64 within an octave
//   (P, Q)     ExactMass     p- and q-mass of all tokens of higher ratio, integers in units of 2^-62
//   v(P, Q)    cut_value     cut of the other tokens: 1 + (1 - P) - (1 - Q)^K
//   r          floor of b    no ratio in b is lower
//
// Cost: O(V), and a sort of the open buckets: all of them at worst, if nearly all ratios are equal.
//
// Correctness: inside b, between its ends (P0, Q0) and (P1, Q1), p-mass is at most the line P1 - r (Q1 - Q). On that
// line v is concave, so no cut inside b is below v at (P1, Q1) and at (P1 - r (Q1 - Q0), Q0). A bucket is skipped
// only if both exceed the best bucket end by more than the rounding error.
//
// Error: against the laws in exact arithmetic, (K + 2) 2^-53 of the value, and K 2^-53 from ratios that are rounded
// before they are compared.
//
// Source: derived here.
#pragma once

#include <draftproof/optimum/iid_acceptance.hpp>

namespace draftproof {

/// The optimum of K = `drafts` >= 1 independent draws of `proposal`. Both members equal those of
/// iid_optimum(RatioTable(target, proposal), drafts).
Optimum fresh_iid_optimum(std::span<const double> target, std::span<const double> proposal, int drafts);

}  // namespace draftproof
