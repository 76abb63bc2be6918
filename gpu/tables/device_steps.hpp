// The two steps that use the CUDA toolkit's library CUB: stable sorts and running sums of integers, whose results do
// not depend on the algorithm. Both are in one source file, since the headers of CUB are slow to compile.
#pragma once

#include <cstddef>
#include <cstdint>

#include <draftproof/gpu/tables/sort_space.hpp>
#include <draftproof/gpu/verify_batch.hpp>

namespace draftproof::gpu {

/// Returns the bytes of scratch for a sort or running sums of `size` entries on the current device.
/// Throws: DeviceError, as all calls of this header do.
std::size_t scratch_of_steps(std::uint32_t size);

/// Queues machine.sort (sort_space.hpp).
void queue_sort(SortSpace& space, std::uint32_t size, int bits, Stream stream);

/// Queues machine.running_sums (sort_space.hpp).
void queue_running_sums(const SortSpace& space, SumPair* sums, std::uint32_t size, Stream stream);

}  // namespace draftproof::gpu
