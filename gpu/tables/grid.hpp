// The threads of a whole grid, for work that divides into many equal parts: one thread per entry of an array, or one
// warp per run of tokens of a row. No thread waits for a thread of another warp; a later kernel combines the results.
//
//   symbol     code                 meaning
//   places     for_places           i = 0 .. n - 1, distributed over the threads
//   runs       Runs, for_runs       `length` consecutive entries of one of several rows, distributed over the warps
//   lanes      lane_sum(v), ..      collective over a warp (teams/warp_lanes.cuh)
//
// A body is an object that is copied into the kernel. All threads of the grid call its operator()(grid); work() is
// the number of threads that it can use.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include <draftproof/sim/device/host_device.hpp>

namespace draftproof::gpu {

template <class G>
concept Grid = requires(const G& grid, std::uint64_t value) {
  { grid.index() } -> std::convertible_to<std::uint64_t>;  ///< index of this thread in the grid
  { grid.size() } -> std::convertible_to<std::uint64_t>;   ///< number of threads, a multiple of lanes()
  { grid.lanes() } -> std::convertible_to<int>;
  { grid.lane() } -> std::convertible_to<int>;
  { grid.lane_sum(value) } -> std::same_as<std::uint64_t>;
  { grid.lane_max(value) } -> std::same_as<std::uint64_t>;
};

template <Grid G, class Visit>
DRAFTPROOF_DEVICE void for_places(const G& grid, std::uint64_t places, const Visit& visit) {
  for (std::uint64_t i = grid.index(); i < places; i += grid.size()) visit(i);
}

/// `rows` rows of `entries` each, cut into runs; the last run of a row may be shorter.
struct Runs {
  static constexpr std::uint64_t length = 512;

  std::uint64_t rows, entries;

  DRAFTPROOF_DEVICE std::uint64_t per_row() const { return (entries + length - 1) / length; }
  DRAFTPROOF_DEVICE std::uint64_t size() const { return rows * per_row(); }
  DRAFTPROOF_DEVICE std::uint64_t row(std::uint64_t run) const { return run / per_row(); }
  DRAFTPROOF_DEVICE std::uint64_t begin(std::uint64_t run) const { return run % per_row() * length; }
  DRAFTPROOF_DEVICE std::uint64_t end(std::uint64_t run) const {
    const std::uint64_t first = begin(run);
    return entries - first < length ? entries : first + length;
  }
  /// Number of threads that one warp per run needs.
  std::uint64_t work() const { return size() * 32; }
};

/// Calls visit(run) on all lanes of a warp.
template <Grid G, class Visit>
DRAFTPROOF_DEVICE void for_runs(const G& grid, std::uint64_t runs, const Visit& visit) {
  const auto lanes = static_cast<std::uint64_t>(grid.lanes());
  for (std::uint64_t run = grid.index() / lanes; run < runs; run += grid.size() / lanes) visit(run);
}

/// Reduces pairs (first, second) over the lanes of a warp to the lexicographically greatest, on all lanes.
template <Grid G>
DRAFTPROOF_DEVICE void lane_greatest(const G& grid, std::uint64_t& first, std::uint64_t& second) {
  const std::uint64_t greatest = grid.lane_max(first);
  second = grid.lane_max(first == greatest ? second : std::uint64_t{0});
  first = greatest;
}

// Arrays in one piece of memory, one after the other. The same calls of take() first compute the size of the memory
// and then, once the memory is allocated, the address of each array.
//
// Arrays begin at multiples of 256 bytes. If `memory` is null, take() returns null and only bytes() is meaningful.

class Places {
 public:
  explicit Places(void* memory) : memory_{static_cast<char*>(memory)} {}

  /// Returns an uninitialized array of `count` elements of T.
  template <class T>
  T* take(std::size_t count) {
    const std::size_t start = bytes_;
    bytes_ += (count * sizeof(T) + alignment - 1) / alignment * alignment;
    return memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + start);
  }
  std::size_t bytes() const { return bytes_; }

  static constexpr std::size_t alignment = 256;

 private:
  char* memory_;
  std::size_t bytes_ = 0;
};

}  // namespace draftproof::gpu
