// An array in device memory that frees itself.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <draftproof/gpu/device/device_call.cuh>

namespace draftproof::gpu {

/// An array of `size` elements, copied from host memory at `source`; uninitialized if `source` is null.
/// Throws: DeviceError.
template <class T>
class DeviceBuffer {
 public:
  DeviceBuffer(const T* source, std::size_t size) : size_{size} {
    if (size == 0) return;
    void* memory = nullptr;
    device_call("cudaMalloc", cudaMalloc(&memory, size * sizeof(T)));
    data_.reset(static_cast<T*>(memory));
    if (source != nullptr)
      device_call("cudaMemcpy", cudaMemcpy(memory, source, size * sizeof(T), cudaMemcpyHostToDevice));
  }

  T* data() const { return data_.get(); }
  /// Returns the elements in host memory, after all device work that this thread's default stream waits for.
  /// Throws: DeviceError.
  std::vector<T> copy() const {
    std::vector<T> host(size_);
    if (size_ != 0)
      device_call("cudaMemcpy", cudaMemcpy(host.data(), data(), size_ * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
  }

 private:
  struct Free {
    void operator()(T* memory) const { cudaFree(memory); }
  };
  std::unique_ptr<T, Free> data_;
  std::size_t size_ = 0;
};

}  // namespace draftproof::gpu
