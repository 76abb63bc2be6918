// Number of trials that detect a deviation of given total variation, in closed form. Gates plan their budgets with
// it.
//
//   eps        distance    total variation of the output law and p
//   N          trials      Poisson exposure
//   ||p||      norm        (sum p^(2/3))^(3/2)
//   alpha      level       false alarms, 1e-9
//   1 - beta   power       probability of detecting it, 0.99
//   z_x                    upper x quantile of a standard normal
//
//   any shape    N = sqrt(2) ||p|| (z_alpha + z_beta) / (4 eps^2)
//
// Derivation: under the null, Z = sum ((X - N p)^2 - X) p^(-2/3) over independent Poisson counts has mean 0 and
// variance 2 N^2 sum p^(2/3). If output and p differ by delta, its mean is N^2 sum delta^2 p^(-2/3), which is at
// least N^2 (2 eps)^2 / sum p^(2/3) by Cauchy and Schwarz. Null variance and normal tails are approximations, so the
// results are plans and not guarantees. The rate is that of Valiant and Valiant (recalled), whose L1 distance is 2
// TV.
//
//   along a key  N = lambda / (4 eps^2)
//
// This form holds for deviations that survive grouping into g cells of equal mass. Pearson's statistic of the groups
// has noncentrality N sum delta_g^2 g >= 4 N eps^2, and lambda is the noncentrality at which chi-squared with g - 1
// degrees of freedom exceeds its alpha quantile with probability 1 - beta. A deviation of one sign below some value
// of p / q and of the other sign above it keeps all of its eps except the part that cancels in the group of the
// change.
//
// A gate of e-values pays for its freedom to stop at any time: log e of its best bet is about z^2 / 2 and must reach
// log(1 / alpha) plus log 220, the price of 5 components and 44 bets. That is z = 7.2 in place of 6.0, 15 % more
// trials.
#pragma once

#include <span>

namespace draftproof {

/// False-alarm level and power.
struct Detection {
  double alpha = 1e-9, power = 0.99;
};

/// (sum p^(2/3))^(3/2) of `law`.
double two_thirds_norm(std::span<const double> law);

/// Number of trials that detect a deviation of any shape of total variation `distance` > 0.
double trials_for_any_shape(double norm, double distance, Detection detection = {});
/// The inverse: the smallest total variation of any shape that `trials` > 0 trials detect.
double distance_of_any_shape(double norm, double trials, Detection detection = {});

/// Number of trials that detect a deviation of total variation `distance` after grouping into `groups` >= 2 groups of
/// equal mass.
double trials_along_groups(int groups, double distance, Detection detection = {});

}  // namespace draftproof
