// The bet against one cell: a Poisson count whose rate has been multiplied by a Gamma variable of mean 1, against the
// same count without. Its likelihood ratio is an e-value: never negative, and of mean 1 if the cell has the mean it
// should have.
//
//   X      count      what was counted, an integer (also one above 2^53, rounded)
//   E      mean       what was expected, > 0
//   a      shape      shape of the Gamma variable, > 0; its variance is 1 / a: large a is a timid bet
//   d, t              X - E, d / (a + E)
//   s(z)              lgamma(z) - (z - 1/2) log z + z - log(2 pi) / 2, Stirling's remainder
//
//   log e = lgamma(a + X) - lgamma(a) - X log a - (a + X) log1p(E / a) + E
//
// That form cancels: at a = 1e6 its terms are a million times the result. Four forms that do not are used instead.
//   X = 0            E - a log1p(E / a)
//   X <= 32          log of the product of (1 + j / a), j < X, in place of the lgammas
//   a >= 16          (a + E) ((1 + t) log1p(t) - t) - log1p(X / a) / 2 + s(a + X) - s(a)
//   a >= 512 (X + E) the same in powers of t and X / a: most members of a mixture over shapes, and no logarithm
// and for smaller a with larger X, 16 factors are split off and the third form serves the rest with shape a + 16.
//
// Error, derived: a rounding u = 2^-53 of E moves log e by |t| E u <= |d| u, and the roundings of the third form by
// (a + X) log1p(t) u, t u and those of its small terms; so the result is off by at most
//   8 u (|d| (1 + log(1 + |t|)) + 40 + log(1 + (X + E) / a) max(1, min(X, 48))).
// Cost: none to four logarithms.
//
// Mean 1: under the null X is Poisson, and the ratio is that of the law of X when the rate is drawn first to its own.
// As a does not depend on E, log e of accumulated counts and means is that of a martingale over batches.
#pragma once

namespace draftproof {

/// log e of one cell; count >= 0, mean > 0, shape > 0. Every other e-value in this room is an average of products of
/// it.
double log_gamma_poisson(double count, double mean, double shape);

}  // namespace draftproof
