#include <draftproof/properties/statistics/count_models.hpp>

#include <cassert>

#include <draftproof/sim/random/philox4x32.hpp>

namespace draftproof {

namespace {

/// Stirling's series is used for arguments from 16 on, where its first omitted term is below 1.2e-16. For a smaller
/// shape 16 factors of the product are split off, which raises the shape by 16.
constexpr int stirling_shift = 16;
/// Up to this count a product is cheaper than Stirling's form and as accurate.
constexpr double small_count = 32;

/// Returns log(1 + y), y > -1, with a relative error of at most 4 x 2^-53; twice as fast as std::log1p. `rest` is the
/// exact rounding error of 1 + y.
double log_of_one_plus(double y) {
  const double sum = 1 + y, rest = y - (sum - 1);
  return std::log(sum) + rest / sum;
}

double stirling_remainder(double z) {
  const double w = 1 / z, v = w * w;
  return w * (1.0 / 12 - v * (1.0 / 360 - v * (1.0 / 1260 - v * (1.0 / 1680 - v * (1.0 / 1188)))));
}

/// Returns log of the product of 1 + j / a over 0 < j < count.
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

/// Returns the third form of log e (count_models.hpp). Requires shape >= `stirling_shift`.
double stirling_form(double count, double mean, double shape) {
  const double difference = count - mean;
  const double t = difference / (shape + mean);
  return (shape + mean) * ((1 + t) * log_of_one_plus(t) - t) - log_of_one_plus(count / shape) / 2 +
         stirling_remainder(shape + count) - stirling_remainder(shape);
}

/// Returns stirling_form computed by series, for shape >= 512 (count + mean). The omitted terms are below 2^-60 times
/// the first.
double timid_form(double count, double mean, double shape) {
  const double t = (count - mean) / (shape + mean);
  const double bend =
      t * t * (1.0 / 2 - t * (1.0 / 6 - t * (1.0 / 12 - t * (1.0 / 20 - t * (1.0 / 30 - t * (1.0 / 42 - t / 56))))));
  if (count == 0) return (shape + mean) * bend;
  const double w = 1 / shape, z = 1 / (shape + count), v = count * w;
  const double log_one_plus_v =
      v * (1 - v * (1.0 / 2 - v * (1.0 / 3 - v * (1.0 / 4 - v * (1.0 / 5 - v * (1.0 / 6 - v / 7))))));
  return (shape + mean) * bend - log_one_plus_v / 2 + (z - w) / 12 - (z * z * z - w * w * w) / 360;
}

}  // namespace

double log_gamma_poisson(double count, double mean, double shape) {
  if (shape >= 512 * (count + mean)) return timid_form(count, mean, shape);
  if (count == 0) return mean - shape * log_of_one_plus(mean / shape);
  if (count <= small_count)
    return log_rising(static_cast<int>(count), shape) - (shape + count) * log_of_one_plus(mean / shape) + mean;
  if (shape >= stirling_shift) return stirling_form(count, mean, shape);
  return log_rising(stirling_shift, shape) + stirling_form(count - stirling_shift, mean, shape + stirling_shift) +
         (shape + count) * log_of_one_plus(stirling_shift / (shape + mean)) -
         (shape + stirling_shift) * log_of_one_plus(stirling_shift / shape);
}

namespace {

/// Purpose of random bits, distinct from roles (role << 8 | purpose) and from shared noise (0x5A000000 and above).
constexpr std::uint32_t batch_purpose = 0x42000000;

}  // namespace

std::uint64_t poisson_count(std::uint64_t mean, std::uint64_t seed, std::uint64_t batch) {
  assert(mean <= largest_poisson_mean);
  if (mean == 0) return 0;
  std::uint64_t total = 0;
  for_each_poisson_mass(mean, [&](std::uint64_t, std::uint64_t mass) {
    total += mass;
    return true;
  });
  std::uint64_t left = total;
  for (std::uint32_t slot = 0; left >= total; ++slot) left = philox_pair(seed, batch, slot, batch_purpose).first >> 2;
  std::uint64_t drawn = mean;
  for_each_poisson_mass(mean, [&](std::uint64_t k, std::uint64_t mass) {
    drawn = k;
    if (left < mass) return false;
    left -= mass;
    return true;
  });
  return drawn;
}

}  // namespace draftproof
