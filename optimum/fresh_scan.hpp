// The ratio scan on rows that are seen once: the same optimum as from a ratio table, bit for bit, without building
// or sorting one. Tokens go into buckets of their ratio; only buckets that can hold the least cut are sorted. Of few
// tokens all are.
//
//   b          bucket        tokens whose p / q, as a float, shares its top bits: steps of 1/64 within an octave
//   (P, Q)     ExactMass     p- and q-mass of all tokens of higher ratio, integers in units of 2^-62
//   v(P, Q)    cut_value     cut of the tokens that remain: 1 + (1 - P) - (1 - Q)^K
//   r          floor of b    no ratio in b is lower
//
// Cost: O(V), and a sort of the buckets looked into: at worst all of them, when every ratio is nearly the same.
// Source: derived here. Right because inside b, between its ends (P0, Q0) and (P1, Q1), p-mass is at most the line
// P1 - r (Q1 - Q); on that line v is concave, so no cut inside b is below v at (P1, Q1) and at (P1 - r (Q1 - Q0),
// Q0). A bucket is left out only if both exceed the best bucket end by more than rounding can make up. Against the
// laws in exact arithmetic: (K + 2) 2^-53 of the value, K 2^-53 of ratios rounded before they are compared.
#pragma once

#include <draftproof/optimum/iid_acceptance.hpp>

namespace draftproof {

/// K = `drafts` >= 1 independent draws of `proposal`. Equals iid_optimum(RatioTable(target, proposal), drafts) in
/// both members.
Optimum fresh_iid_optimum(std::span<const double> target, std::span<const double> proposal, int drafts);

}  // namespace draftproof
