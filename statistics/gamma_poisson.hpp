// The e-value of one cell. It compares a Poisson count whose rate is multiplied by a Gamma variable of mean 1 with
// the same count without the multiplication. The likelihood ratio is never negative and has mean 1 under the null.
//
//   X      count      observed count, an integer (rounded above 2^53)
//   E      mean       expected count under the null, > 0
//   a      shape      shape of the Gamma variable, > 0; its variance is 1 / a, so a large a is a cautious bet
//   d, t              X - E, d / (a + E)
//   s(z)              lgamma(z) - (z - 1/2) log z + z - log(2 pi) / 2, Stirling's remainder
//
//   log e = lgamma(a + X) - lgamma(a) - X log a - (a + X) log1p(E / a) + E
//
// This form cancels: at a = 1e6 its terms are a million times the result. Four forms without cancellation are used.
//   X = 0            E - a log1p(E / a)
//   X <= 32          log of the product of (1 + j / a), j < X, in place of the lgammas
//   a >= 16          (a + E) ((1 + t) log1p(t) - t) - log1p(X / a) / 2 + s(a + X) - s(a)
//   a >= 512 (X + E) the same in powers of t and X / a, without a logarithm; most members of a mixture over shapes
// For smaller a with larger X, 16 factors are split off, and the third form computes the rest with shape a + 16.
//
// Error, derived: a rounding u = 2^-53 of E moves log e by |t| E u <= |d| u. The roundings of the third form move it
// by (a + X) log1p(t) u, t u and the roundings of its small terms. The result is therefore off by at most
//   8 u (|d| (1 + log(1 + |t|)) + 40 + log(1 + (X + E) / a) max(1, min(X, 48))).
//
// Cost: none to four logarithms.
//
// Correctness: under the null X is Poisson, and the numerator is the law of X when the rate is drawn first. a does
// not depend on E, so e of the accumulated counts and means is a martingale over batches.
#pragma once

namespace draftproof {

/// log e of one cell; count >= 0, mean > 0, shape > 0. The other table e-values of this folder are averages of
/// products of it.
double log_gamma_poisson(double count, double mean, double shape);

}  // namespace draftproof
