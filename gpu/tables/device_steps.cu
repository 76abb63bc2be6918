#include <draftproof/gpu/tables/device_steps.hpp>

#include <algorithm>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include <draftproof/gpu/device/device_call.cuh>

namespace draftproof::gpu {
namespace {

cudaError_t sort(void* scratch, std::size_t& bytes, cub::DoubleBuffer<std::uint64_t>& keys,
                 cub::DoubleBuffer<std::uint32_t>& numbers, std::uint32_t size, int bits, Stream stream) {
  return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, numbers, size, 0, bits, stream);
}

cudaError_t running_sums(void* scratch, std::size_t& bytes, SumPair* sums, std::uint32_t size, Stream stream) {
  return cub::DeviceScan::InclusiveScan(scratch, bytes, sums, sums, AddPairs{}, size, stream);
}

}  // namespace

std::size_t scratch_of_steps(std::uint32_t size) {
  std::size_t of_sort = 0, of_sums = 0;
  cub::DoubleBuffer<std::uint64_t> keys;
  cub::DoubleBuffer<std::uint32_t> numbers;
  device_call("cub::DeviceRadixSort::SortPairs", sort(nullptr, of_sort, keys, numbers, size, 64, Stream{}));
  device_call("cub::DeviceScan::InclusiveScan", running_sums(nullptr, of_sums, nullptr, size, Stream{}));
  return std::max(of_sort, of_sums);
}

void queue_sort(SortSpace& space, std::uint32_t size, int bits, Stream stream) {
  cub::DoubleBuffer<std::uint64_t> keys(space.keys, space.other_keys);
  cub::DoubleBuffer<std::uint32_t> numbers(space.numbers, space.other_numbers);
  std::size_t bytes = space.scratch_bytes;
  device_call("cub::DeviceRadixSort::SortPairs", sort(space.scratch, bytes, keys, numbers, size, bits, stream));
  space.keys = keys.Current();
  space.other_keys = keys.Alternate();
  space.numbers = numbers.Current();
  space.other_numbers = numbers.Alternate();
}

void queue_running_sums(const SortSpace& space, SumPair* sums, std::uint32_t size, Stream stream) {
  std::size_t bytes = space.scratch_bytes;
  device_call("cub::DeviceScan::InclusiveScan", running_sums(space.scratch, bytes, sums, size, stream));
}

}  // namespace draftproof::gpu
