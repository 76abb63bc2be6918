// The i.i.d. optimum of many positions whose rows lie in device memory: the highest acceptance of any lossless
// verifier on K independent drafts, with the bits of the host's computation. It needs no CUDA header, only the
// library draftproof::gpu.
//
//   symbol    code          meaning
//   alpha*    acceptance    1 + min over token sets S of p(S) - q(S)^K
//   -         cut           tokens outside the minimising set, in the order of falling p / q
//
// Cost: sorts of all tokens, about 2^21 at a time, and one read of their running sums per number of drafts.
// Correctness: a position's prefixes equal the prefixes in a ratio table of its rows (tables/batch_optimum.cuh). Draws
// without replacement have another optimum, which only the host computes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <draftproof/gpu/launch.hpp>
#include <draftproof/gpu/stored_batch.hpp>
#include <draftproof/gpu/verify_batch.hpp>
#include <draftproof/sim/numeric/cut_bound.hpp>
#include <draftproof/sim/numeric/sums.hpp>

namespace draftproof::gpu {

struct OptimumOptions {
  void* workspace = nullptr;        ///< device memory, 256-byte aligned; null: memory from the stream's pool
  std::size_t workspace_bytes = 0;  ///< at least optimum_workspace_bytes()
};

/// Queues the optima on `stream` and returns. Writes optima[k B + i], in device memory: the optimum of drafts[k]
/// drafts at position i of the batch. The batch's drafts, counts and verdicts are not read. Rows are checked. A
/// position gets NaN, and an entry in `faults` unless `faults` is null, if a row is not a distribution or if rounding
/// makes the row's sum exceed 1 by more than the mass of its most probable tokens.
/// Throws: std::invalid_argument if a size of the batch is out of range, if it has several proposals, if a number of
/// drafts is not positive, or if the workspace is too small or not aligned; DeviceError if a CUDA call fails.
void iid_optima(const StoredBatch& batch, std::span<const int> drafts, Optimum* optima, Stream stream,
                const OptimumOptions& options = {});

/// Returns the optima [B] of one number of drafts, in host memory, after waiting for `stream`. Throws: as above.
std::vector<Optimum> iid_optima(const StoredBatch& batch, int drafts, Stream stream = {});

/// Returns the bytes of workspace for this batch on the current device; reads no memory of the batch.
/// Throws: std::invalid_argument if iid_optima throws it for this batch; DeviceError.
std::size_t optimum_workspace_bytes(const StoredBatch& batch);

}  // namespace draftproof::gpu
