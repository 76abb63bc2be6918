#include <draftproof/statistics/gamma_poisson.hpp>

#include <cmath>

namespace draftproof {
namespace {

/// Factors split off so that Stirling's series starts at 16, where its next term is below 1.2e-16.
constexpr int shift = 16;
/// Products up to here are cheaper than Stirling's form and as accurate.
constexpr double small_count = 32;

/// log(1 + y), y > -1, to 4 u relative: twice as fast as std::log1p. `rest` is what 1 + y lost, exactly.
double log_of_one_plus(double y) {
  const double sum = 1 + y, rest = y - (sum - 1);
  return std::log(sum) + rest / sum;
}

double stirling_remainder(double z) {
  const double w = 1 / z, v = w * w;
  return w * (1.0 / 12 - v * (1.0 / 360 - v * (1.0 / 1260 - v * (1.0 / 1680 - v * (1.0 / 1188)))));
}

/// log of the product of 1 + j / a over 0 < j < count.
double log_rising(int count, double shape) {
  const double step = 1 / shape;
  double product = 1, logs = 0;
  for (int j = 1; j < count; ++j) {
    product *= 1 + j * step;
    if (product > 1e150) {
      logs += std::log(product);
      product = 1;
    }
  }
  return product == 1 ? logs : logs + std::log(product);
}

/// For shapes from `shift` on.
double stirling_form(double count, double mean, double shape) {
  const double difference = count - mean;
  const double t = difference / (shape + mean);
  return (shape + mean) * ((1 + t) * log_of_one_plus(t) - t) - log_of_one_plus(count / shape) / 2 +
         stirling_remainder(shape + count) - stirling_remainder(shape);
}

}  // namespace

double log_gamma_poisson(double count, double mean, double shape) {
  if (count == 0) return mean - shape * log_of_one_plus(mean / shape);
  if (count <= small_count)
    return log_rising(static_cast<int>(count), shape) - (shape + count) * log_of_one_plus(mean / shape) + mean;
  if (shape >= shift) return stirling_form(count, mean, shape);
  return log_rising(shift, shape) + stirling_form(count - shift, mean, shape + shift) +
         (shape + count) * log_of_one_plus(shift / (shape + mean)) - (shape + shift) * log_of_one_plus(shift / shape);
}

}  // namespace draftproof
