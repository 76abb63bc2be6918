#include <draftproof/statistics/poisson_count.hpp>

#include <cassert>

#include <draftproof/sim/random/philox4x32.hpp>

namespace draftproof {
namespace {

/// Distinct from roles (role << 8 | purpose) and from the streams of shared noise (0x5A000000 and above).
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

double poisson_count_excess(std::uint64_t mean) {
  const double reach = 10 * std::sqrt(static_cast<double>(mean)) + 40;
  return reach * (0x1p-51 + 0x1p-59) + 0x1p-55;
}

}  // namespace draftproof
