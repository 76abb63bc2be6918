// The threads of a whole grid, for work that is cut into many alike parts: a thread a place of an array, or a warp a
// run of tokens of a row. No thread waits for one of another warp; what runs find is put together by the next grid.
//
//   symbol     code                 meaning
//   places     for_places           i = 0 .. n - 1, dealt to the threads
//   runs       Runs, for_runs       `length` consecutive entries of one of several rows, dealt to the warps
//   lanes      lane_sum(v), ..      collective over a warp (teams/warp_lanes.cuh)
//
// A body is what all threads of a grid call: an object copied into the kernel, with work(), the threads it has use
// for, and operator()(grid).
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include <draftproof/sim/device/host_device.hpp>

namespace draftproof::gpu {

template <class G>
concept Grid = requires(const G& grid, std::uint64_t value) {
  { grid.index() } -> std::convertible_to<std::uint64_t>;  ///< of this thread
  { grid.size() } -> std::convertible_to<std::uint64_t>;   ///< threads, a multiple of the lanes
  { grid.lanes() } -> std::convertible_to<int>;
  { grid.lane() } -> std::convertible_to<int>;
  { grid.lane_sum(value) } -> std::same_as<std::uint64_t>;
  { grid.lane_max(value) } -> std::same_as<std::uint64_t>;
};

template <Grid G, class Visit>
DRAFTPROOF_DEVICE void for_places(const G& grid, std::uint64_t places, const Visit& visit) {
  for (std::uint64_t i = grid.index(); i < places; i += grid.size()) visit(i);
}

/// `rows` rows of `entries` each, cut into runs; the last of a row may be shorter.
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
  /// Threads that a warp a run comes to.
  std::uint64_t work() const { return size() * 32; }
};

/// Calls visit(run) on all lanes of a warp.
template <Grid G, class Visit>
DRAFTPROOF_DEVICE void for_runs(const G& grid, std::uint64_t runs, const Visit& visit) {
  const auto lanes = static_cast<std::uint64_t>(grid.lanes());
  for (std::uint64_t run = grid.index() / lanes; run < runs; run += grid.size() / lanes) visit(run);
}

/// The greater of two numbers that the lanes of a warp hold, in the order of `first`, then of `second`: both are
/// known to all lanes then.
template <Grid G>
DRAFTPROOF_DEVICE void lane_greatest(const G& grid, std::uint64_t& first, std::uint64_t& second) {
  const std::uint64_t greatest = grid.lane_max(first);
  second = grid.lane_max(first == greatest ? second : std::uint64_t{0});
  first = greatest;
}

// Places of arrays in one piece of memory, one after the other: the same text tells how much memory there has to be
// and, once it is there, where each array lies.
//
// Places begin at multiples of 256 bytes. On no memory the pointers are null and bytes() alone says something.

class Places {
 public:
  explicit Places(void* memory) : memory_{static_cast<char*>(memory)} {}

  /// `count` elements of T, as the memory happens to be.
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
