// Confidence interval of a probability from counts: Clopper and Pearson (Biometrika 26, 1934), never narrower than
// it claims at any sample size. When trials are spread over positions with different probabilities the interval is
// still valid for their mean: such a count is no more spread out than a binomial one (Hoeffding, Ann. Math. Statist.
// 27, 1956).
#pragma once

#include <cstdint>

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

}  // namespace draftproof
