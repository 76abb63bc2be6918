// Converts the status of a CUDA runtime call into an exception. Declarations only, so that kernels compile without
// <string>.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string_view>

#include <draftproof/gpu/mapping.hpp>

namespace draftproof::gpu {

/// Throws: DeviceError unless `status` is success. Use: device_call("cudaFree", cudaFree(p)).
void device_call(const char* name, cudaError_t status);

/// Returns the properties of the current device from which mapping.hpp chooses a mapping. Throws: DeviceError.
const DeviceTraits& this_device();

/// Allows a kernel at least `bytes` of dynamic shared memory on the current device. Any number of host threads may call
/// it at once. Throws: DeviceError if the device has less.
void allow_shared_of(const void* kernel, std::size_t bytes);
template <class... Parameters>
void allow_shared(void (*kernel)(Parameters...), std::size_t bytes) {
  if (bytes > 0) allow_shared_of(reinterpret_cast<const void*>(kernel), bytes);
}

/// Throws: std::logic_error saying that the verifier `name` has no kernel, and why.
[[noreturn]] void no_kernel(std::string_view name, std::string_view why);
/// Throws: std::invalid_argument saying that the mutant `name` has no kernel of this mapping.
[[noreturn]] void no_mapping(std::string_view name, Mapping wanted);

}  // namespace draftproof::gpu
