// The lanes of one CUDA warp, which exchange values by shuffles. Every call is collective over the warp.
//
// The bodies are empty in the host half of a CUDA compilation: verifiers are host and device functions, so the names
// must exist in both. The host never runs them.
#pragma once

#include <cstdint>

#include <draftproof/sim/device/host_device.hpp>
#include <draftproof/sim/numeric/exp.hpp>
#include <draftproof/sim/numeric/fixed_point.hpp>

namespace draftproof::gpu {

#if defined(__CUDA_ARCH__)
/// Adds to an integer atomically. In two's complement, unsigned addition gives the signed result.
DRAFTPROOF_DEVICE inline void add_to(std::int64_t* sum, std::int64_t more) {
  atomicAdd(reinterpret_cast<unsigned long long*>(sum), static_cast<unsigned long long>(more));
}
#endif

/// The calling thread's warp, in one-dimensional blocks whose size is a multiple of 32. It has no state.
class WarpLanes {
 public:
  DRAFTPROOF_DEVICE static constexpr int lanes() { return 32; }

#if defined(__CUDA_ARCH__)
  DRAFTPROOF_DEVICE int lane() const { return static_cast<int>(threadIdx.x) % lanes(); }

  /// Returns the sum over the warp, on every lane.
  template <class T>
  DRAFTPROOF_DEVICE T lane_sum(T value) const {
    for (int step = lanes() / 2; step > 0; step /= 2) value += __shfl_xor_sync(all, value, step);
    return value;
  }
  /// Returns the sum over this lane and earlier lanes.
  template <class T>
  DRAFTPROOF_DEVICE T lane_running_sum(T value) const {
    for (int step = 1; step < lanes(); step *= 2) {
      const T before = __shfl_up_sync(all, value, step);
      if (lane() >= step) value += before;
    }
    return value;
  }
  template <class T>
  DRAFTPROOF_DEVICE T lane_max(T value) const {
    for (int step = lanes() / 2; step > 0; step /= 2) {
      const T other = __shfl_xor_sync(all, value, step);
      if (other > value) value = other;
    }
    return value;
  }
  /// Returns the value of lane `from`.
  template <class T>
  DRAFTPROOF_DEVICE T lane_get(T value, int from) const {
    return __shfl_sync(all, value, from);
  }
  /// Returns the lowest lane where `here` is true, or lanes() if there is none.
  DRAFTPROOF_DEVICE int first_lane(bool here) const {
    const unsigned ballot = __ballot_sync(all, here);
    return ballot == 0 ? lanes() : __ffs(static_cast<int>(ballot)) - 1;
  }
  /// Adds to a sum in shared memory, by any threads at once. Native additions there have 32 bits; the thread whose
  /// addition overflows the lower half adds the carry to the upper half.
  DRAFTPROOF_DEVICE void add_shared(Fixed& sum, Fixed more) const {
    auto* const half = reinterpret_cast<unsigned*>(&sum);
    const auto low = static_cast<unsigned>(more);
    const auto high = static_cast<unsigned>(static_cast<std::uint64_t>(more) >> 32);
    const unsigned before = atomicAdd(half, low);
    const unsigned carried = high + static_cast<unsigned>(before + low < before);
    if (carried != 0) atomicAdd(half + 1, carried);
  }

 private:
  static constexpr unsigned all = ~0u;
#else
  DRAFTPROOF_DEVICE int lane() const { return 0; }
  template <class T>
  DRAFTPROOF_DEVICE T lane_sum(T value) const {
    return value;
  }
  template <class T>
  DRAFTPROOF_DEVICE T lane_running_sum(T value) const {
    return value;
  }
  template <class T>
  DRAFTPROOF_DEVICE T lane_max(T value) const {
    return value;
  }
  template <class T>
  DRAFTPROOF_DEVICE T lane_get(T value, int) const {
    return value;
  }
  DRAFTPROOF_DEVICE int first_lane(bool) const { return 0; }
  DRAFTPROOF_DEVICE void add_shared(Fixed& sum, Fixed more) const { sum += more; }
#endif
};

/// WarpLanes with the number of each warp in its block.
class BlockWarps : public WarpLanes {
 public:
#if defined(__CUDA_ARCH__)
  DRAFTPROOF_DEVICE int warp() const { return static_cast<int>(threadIdx.x) / lanes(); }
  DRAFTPROOF_DEVICE int warps() const { return static_cast<int>(blockDim.x) / lanes(); }
#else
  DRAFTPROOF_DEVICE int warp() const { return 0; }
  DRAFTPROOF_DEVICE int warps() const { return 1; }
#endif
};

}  // namespace draftproof::gpu
