// The two steps that the toolkit's own library does: stable sorts and running sums, of integers alone, so that
// whatever it does inside cannot show. In one source, since its headers are slow to compile.
#pragma once

#include <cstddef>
#include <cstdint>

#include <draftproof/gpu/tables/sort_space.hpp>
#include <draftproof/gpu/verify_batch.hpp>

namespace draftproof::gpu {

/// Bytes of scratch that either call wants for `size` entries on the device that is current. Throws DeviceError, as
/// all of these do.
std::size_t scratch_of_steps(std::uint32_t size);

/// Queues machine.sort of sort_space.hpp.
void queue_sort(SortSpace& space, std::uint32_t size, int bits, Stream stream);

/// Queues machine.running_sums.
void queue_running_sums(const SortSpace& space, SumPair* sums, std::uint32_t size, Stream stream);

}  // namespace draftproof::gpu
