#include <draftproof/gpu/device/device_call.cuh>

#include <cstddef>
#include <map>
#include <mutex>
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

void no_mapping(std::string_view name, Mapping wanted) {
  throw std::invalid_argument("a position by " + std::string(name_of(wanted)) + ": " + std::string(name) +
                              " is a mutant and runs by block only");
}

namespace {

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  device_call("cudaDeviceGetAttribute", cudaDeviceGetAttribute(&value, which, device));
  return value;
}

__global__ void nothing() {}

/// Returns the largest number of blocks in a cluster on the current device: 8, or 16 if the device supports it.
int most_cluster() {
  constexpr int portable = 8, most = 16;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(most);
  config.blockDim = dim3(256);
  int granted = 0;
  const bool asked =
      cudaFuncSetAttribute(nothing, cudaFuncAttributeNonPortableClusterSizeAllowed, 1) == cudaSuccess &&
      cudaOccupancyMaxPotentialClusterSize(&granted, nothing, &config) == cudaSuccess;
  if (!asked) cudaGetLastError();  // clears the error of the query, so that a later call does not return it
  return asked && granted >= most ? most : portable;
}

DeviceTraits traits_of(int device) {
  DeviceTraits traits;
  traits.multiprocessors = attribute(cudaDevAttrMultiProcessorCount, device);
  traits.shared_bytes = static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  traits.cooperative = attribute(cudaDevAttrCooperativeLaunch, device) != 0;
  // Cluster kernels are compiled for compute capability 9.0 and later, if the build has such an architecture. A
  // launch with 16 blocks per cluster needs an attribute (cluster_launch.cuh).
  if (DRAFTPROOF_CLUSTER_KERNELS != 0 && attribute(cudaDevAttrComputeCapabilityMajor, device) >= 9 &&
      attribute(cudaDevAttrClusterLaunch, device) != 0)
    traits.most_cluster = most_cluster();
  return traits;
}

}  // namespace

const DeviceTraits& this_device() {
  static std::mutex lock;
  static std::map<int, DeviceTraits> known;
  int device = 0;
  device_call("cudaGetDevice", cudaGetDevice(&device));
  const std::lock_guard held(lock);
  const auto found = known.find(device);
  return found != known.end() ? found->second : known.emplace(device, traits_of(device)).first->second;
}

void allow_shared_of(const void* kernel, std::size_t bytes) {
  static std::mutex lock;
  static std::map<std::pair<int, const void*>, std::size_t> allowed;  // the largest size set so far
  int device = 0;
  device_call("cudaGetDevice", cudaGetDevice(&device));
  const std::lock_guard held(lock);
  std::size_t& most = allowed[{device, kernel}];
  if (bytes <= most) return;
  device_call("cudaFuncSetAttribute",
              cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
  most = bytes;
}

int device_count() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver) return 0;
  device_call("cudaGetDeviceCount", status);
  return count;
}

}  // namespace draftproof::gpu
