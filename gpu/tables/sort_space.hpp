// Memory of a stable sort of (key, number) pairs and of running sums, and the interface `machine` of the three
// operations that build a table (kernels, sorts, running sums). DeviceMachine (device_machine.cuh) runs them on a GPU.
// The tests have a machine for hosts without a GPU: it runs the bodies as fibers and uses the standard library's sort
// and sums.
//
//   code                           meaning
//   machine.each(body)             all threads of a grid call body (grid.hpp)
//   machine.sort(space, n, bits)   sorts the first n pairs by the lowest `bits` of their keys, ascending, stable
//   machine.running_sums(m, n)     m[i] becomes the sum of m[0 .. i]
//
// Calls take effect one after the other. The scratch of sorts and sums has scratch_of_steps(n) bytes on a device and
// none on the host.
#pragma once

#include <cstddef>
#include <cstdint>

#include <draftproof/gpu/tables/grid.hpp>
#include <draftproof/sim/device/host_device.hpp>

namespace draftproof::gpu {

/// Two sums that are formed together; integers modulo 2^64.
struct SumPair {
  std::uint64_t first, second;
};

struct AddPairs {
  DRAFTPROOF_DEVICE SumPair operator()(const SumPair& a, const SumPair& b) const {
    return {a.first + b.first, a.second + b.second};
  }
};

struct SortSpace {
  SortSpace(Places& places, std::size_t size, std::size_t bytes)
      : keys{places.take<std::uint64_t>(size)},
        other_keys{places.take<std::uint64_t>(size)},
        numbers{places.take<std::uint32_t>(size)},
        other_numbers{places.take<std::uint32_t>(size)},
        scratch{places.take<char>(bytes)},
        scratch_bytes{bytes} {}

  std::uint64_t *keys, *other_keys;  ///< a sort may exchange the two pointers
  std::uint32_t *numbers, *other_numbers;
  char* scratch;
  std::size_t scratch_bytes;
};

}  // namespace draftproof::gpu
