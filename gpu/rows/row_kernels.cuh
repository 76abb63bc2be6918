// Launches of the kernels that look at rows before a verifier does: a block a row, a warp for each 1024 tokens of it.
#pragma once

#include <draftproof/gpu/rows/distinct_rows.hpp>
#include <draftproof/gpu/verify_batch.hpp>

namespace draftproof::gpu {

/// Queues the conversion of all rows into `out`, [rows.floats()]. Throws DeviceError.
void convert_rows(const DistinctRows& rows, float* out, Stream stream);

/// Queues the check of all rows, which are probabilities. Throws DeviceError.
void check_rows(const DistinctRows& rows, double tolerance, Stream stream);

}  // namespace draftproof::gpu
