// Ratio tables from rows in device memory, from plain C++: what RatioTable makes of the same rows on the host, array
// for array and bit for bit, without the rows leaving the device. No CUDA header is needed to call it, only the
// library draftproof::gpu.
//
// Cost: sorts and running sums of V tokens on the device, and two waits. Aliases too are made there, all cells at
// once (tables/alias_lists.cuh). Right because a table is integers that sum to 2^62 and searches of them; tests hold
// every array to the host's.
#pragma once

#include <cstdint>

#include <draftproof/gpu/simulate.hpp>
#include <draftproof/gpu/stored_batch.hpp>

namespace draftproof::gpu {

/// The table of position `position` of a batch in device memory, whose drafts, counts and verdicts are not looked at;
/// all of its proposals are in it. Rows of 16-bit entries and logits become rows of float first, which the host's
/// table of the same floats equals. Waits for `stream`; the table may be used on any. Throws std::invalid_argument,
/// with row and token, if the rows are no laws or a row's heaviest token has less than its sum is too much, or if
/// there are more proposals than drafts can be, and DeviceError.
DeviceTable ratio_table(const StoredBatch& batch, std::int64_t position = 0, Stream stream = {});

}  // namespace draftproof::gpu
