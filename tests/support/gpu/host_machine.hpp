// The machine on which tests without a device build the tables and optima of gpu/tables. It uses fibers in place of
// threads, and std::stable_sort and std::inclusive_scan in place of CUB.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include <draftproof/gpu/tables/grid.hpp>
#include <draftproof/gpu/tables/sort_space.hpp>
#include <draftproof/tests/support/gpu/host_team.hpp>

namespace draftproof::parity {

/// A fiber in the role of a thread of a grid.
class HostGrid {
 public:
  explicit HostGrid(const HostThread& thread) : thread_{thread} {}

  std::uint64_t index() const { return static_cast<std::uint64_t>(thread_.index()); }
  std::uint64_t size() const { return static_cast<std::uint64_t>(thread_.warps() * thread_.lanes()); }
  int lanes() const { return thread_.lanes(); }
  int lane() const { return thread_.lane(); }
  std::uint64_t lane_sum(std::uint64_t value) const { return thread_.lane_sum(value); }
  std::uint64_t lane_max(std::uint64_t value) const { return thread_.lane_max(value); }

 private:
  HostThread thread_;
};
static_assert(gpu::Grid<HostGrid>);

class HostMachine {
 public:
  HostMachine(int warps, int lanes) : team_({.partitions = 1, .warps = warps, .lanes = lanes}) {}

  /// Runs the body twice. If its threads wrongly read each other's output, the second run has another result, so the
  /// test fails.
  template <class Body>
  void each(const Body& body) {
    for (int time = 0; time < 2; ++time) team_.run([&body](const HostThread& thread) { body(HostGrid(thread)); });
  }
  void sort(gpu::SortSpace& space, std::uint64_t size, int bits) const {
    using Pair = std::pair<std::uint64_t, std::uint32_t>;
    std::vector<Pair> pairs;
    for (std::size_t i = 0; i < size; ++i) pairs.emplace_back(space.keys[i], space.numbers[i]);
    const std::uint64_t looked_at = (std::uint64_t{1} << bits) - 1;
    std::stable_sort(pairs.begin(), pairs.end(), [looked_at](const Pair& a, const Pair& b) {
      return (a.first & looked_at) < (b.first & looked_at);
    });
    std::swap(space.keys, space.other_keys);
    std::swap(space.numbers, space.other_numbers);
    for (std::size_t i = 0; i < size; ++i) std::tie(space.keys[i], space.numbers[i]) = pairs[i];
  }
  void running_sums(const gpu::SortSpace&, gpu::SumPair* sums, std::uint64_t size) const {
    std::inclusive_scan(sums, sums + size, sums, gpu::AddPairs{});
  }

 private:
  HostTeam team_;
};

/// Returns memory for the arrays that `take` requests, filled with a pattern, because device memory is not
/// initialised to zero.
template <class Take>
std::vector<char> memory_for(const Take& take) {
  gpu::Places none(nullptr);
  take(none);
  return std::vector<char>(none.bytes(), char{0x5a});
}

}  // namespace draftproof::parity
