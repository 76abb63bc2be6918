// Launches of the kernels that check and convert rows before a verifier's kernel: a block per row, a warp per 1024
// tokens.
#pragma once

#include <draftproof/gpu/rows/distinct_rows.hpp>
#include <draftproof/gpu/verify_batch.hpp>

namespace draftproof::gpu {

/// Queues the conversion of all rows into `out`, [rows.floats()]. Throws: DeviceError.
void convert_rows(const DistinctRows& rows, float* out, Stream stream);

/// Queues the check of all rows, which are probabilities. Throws: DeviceError.
void check_rows(const DistinctRows& rows, double tolerance, Stream stream);

}  // namespace draftproof::gpu
