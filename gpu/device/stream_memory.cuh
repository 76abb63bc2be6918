// Device memory for queued work: allocated from the stream's pool, and freed in stream order after the last use.
#pragma once

#include <cstddef>

#include <draftproof/gpu/device/device_call.cuh>

namespace draftproof::gpu {

/// Memory of `bytes` bytes; the object must be destroyed before the stream. Throws: DeviceError if there is no
/// memory.
class StreamMemory {
 public:
  StreamMemory(std::size_t bytes, cudaStream_t stream) : stream_{stream} {
    if (bytes > 0) device_call("cudaMallocAsync", cudaMallocAsync(&data_, bytes, stream));
  }
  StreamMemory(const StreamMemory&) = delete;
  StreamMemory& operator=(const StreamMemory&) = delete;
  ~StreamMemory() {
    if (data_ != nullptr) cudaFreeAsync(data_, stream_);
  }

  void* data() const { return data_; }

 private:
  cudaStream_t stream_;
  void* data_ = nullptr;
};

}  // namespace draftproof::gpu
