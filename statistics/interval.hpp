// Confidence interval of a probability from counts. Its coverage is at least the claimed confidence at any sample
// size. Trials may be spread over positions with different probabilities: the interval then holds for their mean,
// because such a count is no more spread out than a binomial one (Hoeffding, Ann. Math. Statist. 27, 1956).
//
// Source: Clopper and Pearson (Biometrika 26, 1934).
#pragma once

#include <cstdint>
#include <span>

namespace draftproof {

struct Interval {
  double low, high;
};

/// Two-sided interval of confidence 1 - alpha; successes <= trials, 0 < alpha < 1. (0, 1) if trials is 0.
Interval clopper_pearson(std::uint64_t successes, std::uint64_t trials, double alpha);

/// Level of the one-sided bounds that raise an alarm. An acceptance whose lower bound exceeds the optimum shows that
/// the verifier is not lossless or that the optimum is wrong. A lower bound below the optimum says nothing about
/// exactness.
inline constexpr double alarm_level = 1e-9;

/// Lower bound of the probability, which exceeds it with error probability at most alpha. 0 without a success.
double lower_confidence_bound(std::uint64_t successes, std::uint64_t trials, double alpha = alarm_level);
/// Upper bound of the probability, which is below it with error probability at most alpha. 1 without a failure.
double upper_confidence_bound(std::uint64_t successes, std::uint64_t trials, double alpha = alarm_level);

// The expected distance between an exact sampler's histogram and its law, for comparison with an observed distance.

/// Expected total variation between `trials` draws from `law` and `law` itself. Each count is binomial; its mean
/// absolute deviation is exact (de Moivre 1730): 2 (m) (1 - p) Pr(X = m) with m = floor(n p) + 1, divided by n.
double expected_total_variation(std::span<const double> law, std::uint64_t trials);

/// Half the L1 distance between the histogram's frequencies and `law`. Requires a positive count.
double observed_total_variation(std::span<const std::uint64_t> histogram, std::span<const double> law);

}  // namespace draftproof
