// The arrays of a plan in device memory for the trials of one call: copied on a stream, freed behind them.
#pragma once

#include <cstddef>
#include <deque>

#include <draftproof/gpu/device/stream_memory.cuh>

namespace draftproof::gpu {

/// What a plan's view is made with. Throws DeviceError. The sources may change once a call has returned: what is
/// copied from pageable memory has been read by then.
class PlanCopy {
 public:
  explicit PlanCopy(cudaStream_t stream) : stream_{stream} {}

  template <class T>
  const T* operator()(const T* data, std::size_t size) const {
    const StreamMemory& own = memories_.emplace_back(size * sizeof(T), stream_);
    if (size > 0)
      device_call("cudaMemcpyAsync",
                  cudaMemcpyAsync(own.data(), data, size * sizeof(T), cudaMemcpyHostToDevice, stream_));
    return static_cast<const T*>(own.data());
  }

 private:
  cudaStream_t stream_;
  mutable std::deque<StreamMemory> memories_;
};

}  // namespace draftproof::gpu
