// The machine that builds tables (sort_space.hpp) on a stream of a device: it runs each body in one kernel, and sorts
// and sums by the CUDA toolkit's library CUB.
#pragma once

#include <algorithm>
#include <cstdint>

#include <draftproof/gpu/device/device_call.cuh>
#include <draftproof/gpu/tables/device_steps.hpp>
#include <draftproof/gpu/tables/grid.hpp>
#include <draftproof/gpu/teams/warp_lanes.cuh>

namespace draftproof::gpu {

class DeviceGrid : public WarpLanes {
 public:
#if defined(__CUDA_ARCH__)
  DRAFTPROOF_DEVICE std::uint64_t index() const { return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
  DRAFTPROOF_DEVICE std::uint64_t size() const { return std::uint64_t{gridDim.x} * blockDim.x; }
#else
  DRAFTPROOF_DEVICE std::uint64_t index() const { return 0; }
  DRAFTPROOF_DEVICE std::uint64_t size() const { return 1; }
#endif
};
static_assert(Grid<DeviceGrid>);

inline constexpr int grid_threads = 256;

template <class Body>
__global__ void __launch_bounds__(grid_threads) grid_kernel(const __grid_constant__ Body body) {
  body(DeviceGrid{});
}

/// Queues every call on one stream. Throws: DeviceError.
class DeviceMachine {
 public:
  explicit DeviceMachine(Stream stream) : stream_{stream} {}

  Stream stream() const { return stream_; }

  template <class Body>
  void each(const Body& body) const {
    // Starts at most as many blocks as the device runs at once; their threads loop over the remaining work.
    const auto most = static_cast<std::uint64_t>(8 * this_device().multiprocessors);
    const std::uint64_t blocks = std::clamp<std::uint64_t>((body.work() + grid_threads - 1) / grid_threads, 1, most);
    grid_kernel<<<static_cast<unsigned>(blocks), grid_threads, 0, stream_>>>(body);
    device_call("cudaLaunchKernel", cudaGetLastError());
  }
  void sort(SortSpace& space, std::uint64_t size, int bits) const {
    queue_sort(space, static_cast<std::uint32_t>(size), bits, stream_);
  }
  void running_sums(const SortSpace& space, SumPair* sums, std::uint64_t size) const {
    queue_running_sums(space, sums, static_cast<std::uint32_t>(size), stream_);
  }

 private:
  Stream stream_;
};

}  // namespace draftproof::gpu
