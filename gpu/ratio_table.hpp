// Builds ratio tables from rows in device memory, without copying the rows to the host. Every array has the bits of
// RatioTable on the host. It needs no CUDA header, only the library draftproof::gpu.
//
// Cost: sorts and running sums of V tokens on the device, and two waits. Alias cells are also filled on the device, all
// at once (tables/alias_lists.cuh).
// Correctness: a table has integers that sum to 2^62 and results of searches among these integers; tests compare every
// array with the host's.
#pragma once

#include <cstdint>

#include <draftproof/gpu/simulate.hpp>
#include <draftproof/gpu/stored_batch.hpp>

namespace draftproof::gpu {

/// Returns the table of position `position` of a batch in device memory, with all of its proposals. The batch's
/// drafts, counts and verdicts are not read. Rows of 16-bit entries and logits are converted to float first; the
/// result equals the host's table of those floats. Waits for `stream`; the table may then be used on any stream.
/// Throws: std::invalid_argument, with row and token, if a row is not a distribution or if rounding makes its sum
/// exceed 1 by more than the mass of its most probable tokens; std::invalid_argument if a size or the position is out
/// of range or there are more than max_drafts proposals; DeviceError if a CUDA call fails.
DeviceTable ratio_table(const StoredBatch& batch, std::int64_t position = 0, Stream stream = {});

}  // namespace draftproof::gpu
