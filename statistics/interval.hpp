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

}  // namespace draftproof
