// Declares the calls that queue a verifier's kernel on buffers in device memory.
//
// On a StoredBatch the user says where everything goes: what stream, what memory beside the batch, and whether rows
// of probabilities are checked. Logits are always checked, since softmax sees them all.
#pragma once

#include <cstddef>

#include <draftproof/gpu/batch.hpp>
#include <draftproof/gpu/mapping.hpp>
#include <draftproof/gpu/stored_batch.hpp>

struct CUstream_st;

namespace draftproof::gpu {

/// A cudaStream_t; null is the default stream.
using Stream = CUstream_st*;

/// Queues the verdicts of a batch in device memory on `stream` and returns. The plan is prepared in the kernel from a
/// position's own rows and count. A position that reaches a branch of probability zero gets no_token. Compiled for
/// every verifier of the tree with Entry = float; for one of your own include gpu/kernels/verify_batch.cuh in a CUDA source.
/// Throws DeviceError if a call fails, std::invalid_argument if the mapping cannot be had, std::logic_error if the
/// verifier's info says that it cannot run here.
template <class V, class Entry>
void verify_batch(const V& verifier, const Batch<Entry>& batch, Stream stream, Mapping mapping = Mapping::automatic);

struct VerifyOptions {
  Mapping mapping = Mapping::automatic;
  bool check_probabilities =
      false;                  ///< one read of the rows more: no negative, no NaN, a sum that the format explains
  void* workspace = nullptr;  ///< device memory at a multiple of 256 bytes; null: the stream's pool
  std::size_t workspace_bytes = 0;  ///< at least what workspace_bytes() says
};

/// The same for rows of any format, probabilities or logits, with the same kernels. A position whose rows are no law
/// gets no_token, and its word in `batch.faults` says which row and token (row_fault.hpp). The workspace is in use
/// until the stream is past this call. Throws std::invalid_argument too if the batch has no shape, or the workspace
/// is too small or not aligned.
template <class V>
void verify_batch(const V& verifier, const StoredBatch& batch, Stream stream, const VerifyOptions& options = {});

/// Bytes of workspace that are enough, on the device that is current, for this batch and all like it of fewer
/// positions: asked once for the largest. Reads nothing that the batch points to; whether `faults` is there matters.
/// For a verifier whose plan lies in shared memory, `plan_bytes` is plan_bytes<V> (plan_bytes.hpp).
std::size_t workspace_bytes(const StoredBatch& batch, const VerifyOptions& options = {}, std::size_t plan_bytes = 0);

/// Its part for clusters of `shares` blocks a position.
template <class V>
void verify_clusters(const V& verifier, const StoredBatch& batch, int shares, Stream stream);

}  // namespace draftproof::gpu
