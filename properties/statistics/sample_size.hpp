// Numbers of trials that detect a deviation of given total variation, in closed form, from which gates plan
// their budgets; confidence intervals of counts; and the total variation that an exact sampler shows by chance.
//
//   eps        distance    total variation between the output distribution and p
//   N          trials      Poisson exposure
//   ||p||      norm        (sum p^(2/3))^(3/2)
//   alpha      level       false alarms, 1e-9
//   1 - beta   power       probability of detection, 0.99
//   z_x                    upper x quantile of a standard normal
//
//   any shape    N = sqrt(2) ||p|| (z_alpha + z_beta) / (4 eps^2)
//
// Derivation: under the null, Z = sum ((X - N p)^2 - X) p^(-2/3) over independent Poisson counts has mean 0 and
// variance 2 N^2 sum p^(2/3). If output and p differ by delta, its mean is N^2 sum delta^2 p^(-2/3), which is
// at least N^2 (2 eps)^2 / sum p^(2/3) by Cauchy and Schwarz. Null variance and normal tails are
// approximations, so the results are plans and not guarantees. The rate agrees with Valiant and Valiant (cited
// from memory), whose L1 distance is 2 TV.
//
// A gate of e-values needs more trials because it may stop at any time: log e of its best bet is about z^2 / 2
// and must reach log(1 / alpha) plus log 220, for 5 components and 44 bets. Hence z is 7.2 rather than 6.0, which takes
// 15 % more trials.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace draftproof {

// Confidence interval of a probability from counts. Its coverage is at least the stated confidence at any
// sample size. Trials may be at positions with different probabilities: the interval then holds for their mean,
// because such a count is at most as spread out as a binomial one (Hoeffding, Ann. Math. Statist. 27, 1956).
//
// Source: Clopper and Pearson (Biometrika 26, 1934).

struct Interval {
  double low, high;
};

/// Returns the two-sided interval of confidence 1 - alpha; successes <= trials, 0 < alpha < 1. The interval is (0, 1)
/// if `trials` is 0.
Interval clopper_pearson(std::uint64_t successes, std::uint64_t trials, double alpha);

/// Level of the one-sided bounds that raise an alarm. An acceptance whose lower bound exceeds the optimum
/// proves at this level that the verifier is not lossless or that the computed optimum is wrong. A lower bound below
/// the optimum proves nothing.
inline constexpr double alarm_level = 1e-9;

/// Returns a bound that exceeds the true probability with probability at most alpha; 0 if there is no success.
double lower_confidence_bound(std::uint64_t successes, std::uint64_t trials, double alpha = alarm_level);
/// Returns a bound that is below the true probability with probability at most alpha; 1 if there is no failure.
double upper_confidence_bound(std::uint64_t successes, std::uint64_t trials, double alpha = alarm_level);

// The expected distance between an exact sampler's histogram and its distribution, to compare observed
// distances with.

/// Returns the expected total variation between the frequencies of `trials` draws from `distribution` and
/// `distribution`. Each count is binomial; its mean absolute deviation is exact (de Moivre 1730): 2 m (1 - p) Pr(X =
/// m) with m = floor(n p) + 1, divided by n.
double expected_total_variation(std::span<const double> distribution, std::uint64_t trials);

/// Returns half the L1 distance between the histogram's frequencies and `distribution`. Requires a positive count.
double observed_total_variation(std::span<const std::uint64_t> histogram, std::span<const double> distribution);

/// False-alarm level and power.
struct Detection {
  double alpha = 1e-9, power = 0.99;
};

/// Returns (sum p^(2/3))^(3/2) of `distribution`.
double two_thirds_norm(std::span<const double> distribution);

/// Returns the number of trials that detect a deviation of any shape of total variation `distance` > 0.
double trials_for_any_shape(double norm, double distance, Detection detection = {});
/// Returns the smallest total variation of any shape that `trials` > 0 trials detect: the inverse of
/// trials_for_any_shape().
double distance_of_any_shape(double norm, double trials, Detection detection = {});

/// Returns the smallest total variation that a gate detects if the logarithm of its e-value must reach `log_threshold`.
/// It is larger than distance_of_any_shape(), because the gate may stop at any time and its e-value averages bets.
double distance_of_e_value(double norm, double trials, double log_threshold, double power = 0.99);
/// Returns the detected total variation as a text for findings: "a total variation of 0.012 in the first token, in
/// about 99 of 100 runs". `where` follows the number. Empty if `distance` is 1 or more, which no distribution exceeds.
std::string sensitivity_of(double distance, std::string_view where);

}  // namespace draftproof
