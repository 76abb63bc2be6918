#include <draftproof/statistics/mass_groups.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

#include <draftproof/sim/numeric/neumaier_sum.hpp>

namespace draftproof {

std::vector<std::uint32_t> mass_groups(std::span<const double> key, std::span<const double> target, int groups) {
  std::vector<std::uint32_t> order(key.size()), group(key.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](auto x, auto y) { return key[x] < key[y]; });
  double reached = 0;
  for (const std::uint32_t x : order) {
    reached += target[x];
    const double place = std::floor((reached - target[x] / 2) * groups);
    group[x] = static_cast<std::uint32_t>(std::clamp(place, 0.0, static_cast<double>(groups - 1)));
  }
  return group;
}

std::vector<double> ratio_key(std::span<const double> target, std::span<const double> proposal) {
  std::vector<double> key(target.size());
  for (std::size_t x = 0; x < key.size(); ++x)
    key[x] = proposal[x] > 0 ? target[x] / proposal[x] : std::numeric_limits<double>::infinity();
  return key;
}

std::vector<double> folded(std::span<const std::uint32_t> group, std::span<const double> law, int groups) {
  std::vector<NeumaierSum> sums(static_cast<std::size_t>(groups));
  for (std::size_t x = 0; x < law.size(); ++x) sums[group[x]].add(law[x]);
  std::vector<double> out;
  for (const NeumaierSum& sum : sums) out.push_back(sum.value());
  return out;
}

std::vector<std::uint64_t> folded(std::span<const std::uint32_t> group, std::span<const std::uint64_t> counts,
                                  int groups) {
  std::vector<std::uint64_t> sums(static_cast<std::size_t>(groups));
  for (std::size_t x = 0; x < counts.size(); ++x) sums[group[x]] += counts[x];
  return sums;
}

}  // namespace draftproof
