// Confidence interval of a probability from counts: Clopper and Pearson (Biometrika 26, 1934), never narrower than
// it claims at any sample size. When trials are spread over positions with different probabilities the interval is
// still valid for their mean: such a count is no more spread out than a binomial one (Hoeffding, Ann. Math. Statist.
// 27, 1956).
#pragma once

#include <cstdint>
#include <span>

namespace draftproof {

struct Interval {
  double low, high;
};

/// Two-sided interval of confidence 1 - alpha; successes <= trials, 0 < alpha < 1. (0, 1) if trials is 0.
Interval clopper_pearson(std::uint64_t successes, std::uint64_t trials, double alpha);

/// Level of one-sided bounds that raise an alarm. An acceptance whose lower bound exceeds the optimum says that the
/// verifier is not lossless or the optimum is wrong; one below it says nothing about exactness.
inline constexpr double alarm_level = 1e-9;

/// The probability is below the result in at most one of 1 / alpha experiments. 0 without a success.
double lower_confidence_bound(std::uint64_t successes, std::uint64_t trials, double alpha = alarm_level);
/// The probability is above the result in at most one of 1 / alpha experiments. 1 without a failure.
double upper_confidence_bound(std::uint64_t successes, std::uint64_t trials, double alpha = alarm_level);

// How far the histogram of an exact sampler is expected to be from its law, so that an observed distance can be
// read.

/// Expected total variation between `trials` draws from `law` and `law` itself. Each count is binomial; its mean
/// absolute deviation is exact (de Moivre 1730): 2 (m) (1 - p) Pr(X = m) with m = floor(n p) + 1, divided by n.
double expected_total_variation(std::span<const double> law, std::uint64_t trials);

/// Half the L1 distance of the histogram's frequencies from `law`; the counts are not all zero.
double observed_total_variation(std::span<const std::uint64_t> histogram, std::span<const double> law);

}  // namespace draftproof
