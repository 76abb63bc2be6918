// Tests of joined replicates: coefficients of controls come from the other half of the replicates, controls are centred
// at their given means, and replicates of too few samples use no controls.
#include <cmath>

#include <gtest/gtest.h>

#include <draftproof/properties/estimation/acceptance_estimate.hpp>

namespace draftproof {
namespace {

/// Returns one replicate of `samples` tuples with controls `first`, `first` + .1, .. and outcome 3 + slope * control.
ControlSums line(double slope, int samples, double first) {
  ControlSums sums(1, 1);
  for (int i = 0; i < samples; ++i) {
    const double z = first + i / 10.0;
    const double y = 3 + slope * z;
    sums.add(std::span(&y, 1), std::span(&z, 1));
  }
  return sums;
}
double mean_control(int samples, double first) { return first + (samples - 1) / 20.0; }

TEST(ReplicatedEstimate, TakesCoefficientsFromTheOtherHalf) {
  const int n = 11;
  const std::vector<ControlSums> replicates{line(2, n, 0), line(5, n, .25), line(2, n, .5), line(5, n, .75)};
  const double known = 0.6;
  const auto joint = joined(replicates, std::span(&known, 1), true).front();
  std::vector<double> values;
  for (int r = 0; r < 4; ++r) {
    const double z = mean_control(n, .25 * r), own = r % 2 ? 5 : 2, other = r % 2 ? 2 : 5;
    values.push_back(3 + own * z - other * (z - known));
  }
  double mean = 0, squares = 0;
  for (const double value : values) mean += value / 4;
  for (const double value : values) squares += (value - mean) * (value - mean);
  EXPECT_NEAR(joint.mean, mean, 1e-12);
  EXPECT_NEAR(joint.standard_error, std::sqrt(squares / 12), 1e-12);
  // The 0.975 quantile of Student's t with 3 degrees of freedom is 3.18245.
  EXPECT_NEAR(joint.interval(0.95).high - joint.mean, 3.18245 * joint.standard_error, 1e-5);
  EXPECT_NEAR(joint.mean - joint.interval(0.95).low, 3.18245 * joint.standard_error, 1e-5);
}

TEST(ReplicatedEstimate, WithoutControlsOrWithTooFewSamplesItIsThePlainMean) {
  const double known = 0.6;
  for (const auto& [samples, controls] : {std::pair{11, false}, std::pair{4, true}}) {
    const std::vector<ControlSums> replicates{line(2, samples, 0), line(2, samples, .5)};
    const std::vector<ControlSums> bare = [&] {
      std::vector<ControlSums> out;
      for (const ControlSums& with : replicates) {
        out.emplace_back(0, 1);
        out.back().samples = with.samples;
        out.back().outcome = with.outcome;
      }
      return out;
    }();
    const auto joint = joined(controls ? replicates : bare, std::span(&known, 1), controls).front();
    EXPECT_NEAR(joint.mean, 3 + 2 * (mean_control(samples, 0) + mean_control(samples, .5)) / 2, 1e-12);
  }
}

}  // namespace
}  // namespace draftproof
