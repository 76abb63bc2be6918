// The i.i.d. optimum of many positions whose rows lie in device memory, from plain C++: the most that any lossless
// verifier accepts of K independent drafts, with the bits that the host finds. No CUDA header is needed to call it,
// only the library draftproof::gpu.
//
//   symbol    code          meaning
//   alpha*    acceptance    1 + min over token sets S of p(S) - q(S)^K
//   -         cut           tokens outside the minimising set, in the order of falling p / q
//
// Cost: sorts of all tokens, some 2^21 at a time, and a read of their running sums for each number of drafts. Right
// because each position's prefixes are those of a ratio table of its rows (tables/batch_optimum.cuh); draws without
// replacement have another optimum, which the host alone computes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <draftproof/gpu/launch.hpp>
#include <draftproof/gpu/stored_batch.hpp>
#include <draftproof/gpu/verify_batch.hpp>
#include <draftproof/sim/numeric/cut_bound.hpp>

namespace draftproof::gpu {

struct OptimumOptions {
  void* workspace = nullptr;        ///< device memory at a multiple of 256 bytes; null: the stream's pool
  std::size_t workspace_bytes = 0;  ///< at least what optimum_workspace_bytes() says
};

/// Queues on `stream` and returns: optima[k B + i], in device memory, of drafts[k] drafts at position i of the batch,
/// whose drafts, counts and verdicts are not looked at. Rows are checked; a position whose rows are no law, or whose
/// heaviest token has less than its row's sum is too much, gets NaN and, where the batch has room for faults, its
/// word (row_fault.hpp). Throws std::invalid_argument if the batch has no shape or several proposals, if a number of
/// drafts is not positive or the workspace will not do, DeviceError if a call fails.
void iid_optima(const StoredBatch& batch, std::span<const int> drafts, Optimum* optima, Stream stream,
                const OptimumOptions& options = {});

/// The same for one number of drafts, in host memory. Waits.
std::vector<Optimum> iid_optima(const StoredBatch& batch, int drafts, Stream stream = {});

/// Bytes of workspace that this batch wants on the device that is current. Reads nothing that the batch points to.
std::size_t optimum_workspace_bytes(const StoredBatch& batch);

}  // namespace draftproof::gpu
