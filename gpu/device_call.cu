#include <draftproof/gpu/device_call.cuh>

#include <stdexcept>
#include <string>

#include <draftproof/gpu/launch.hpp>

namespace draftproof::gpu {

void device_call(const char* name, cudaError_t status) {
  if (status != cudaSuccess) throw DeviceError(name, cudaGetErrorString(status));
}

void no_kernel(std::string_view name, std::string_view why) {
  throw std::logic_error(std::string{name} + " has no kernel: " + std::string{why});
}

int device_count() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver) return 0;
  device_call("cudaGetDeviceCount", status);
  return count;
}

}  // namespace draftproof::gpu
