// Declares the one call that queues a verifier's kernel on buffers in device memory.
#pragma once

#include <draftproof/gpu/batch.hpp>
#include <draftproof/gpu/mapping.hpp>

struct CUstream_st;

namespace draftproof::gpu {

/// A cudaStream_t; null is the default stream.
using Stream = CUstream_st*;

/// Queues the verdicts of a batch in device memory on `stream` and returns. The plan is prepared in the kernel from a
/// position's own rows and count. A position that reaches a branch of probability zero gets no_token. Compiled for
/// every verifier of the tree with Entry = float; for one of your own include gpu/verify_batch.cuh in a CUDA source.
/// Throws DeviceError if a call fails, std::invalid_argument if the mapping cannot be had, std::logic_error if the
/// verifier's info says that it cannot run here.
template <class V, class Entry>
void verify_batch(const V& verifier, const Batch<Entry>& batch, Stream stream, Mapping mapping = Mapping::automatic);

/// Its part for clusters of `shares` blocks a position.
template <class V, class Entry>
void verify_clusters(const V& verifier, const Batch<Entry>& batch, int shares, Stream stream);

}  // namespace draftproof::gpu
