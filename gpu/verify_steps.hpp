// Declares the call that queues the steps of a batch of requests on buffers in device memory.
#pragma once

#include <draftproof/gpu/step_batch.hpp>
#include <draftproof/gpu/verify_batch.hpp>

namespace draftproof::gpu {

/// Queues the steps of a batch in device memory on `stream` and returns. A request that reaches a branch of
/// probability zero gets no_token as its extra token and keeps its carry. Compiled with Entry = float for every
/// scheme of verifiers/paths, and for NodeByNode<V> of every verifier V of one position; for other verifiers or
/// entries include gpu/kernels/verify_steps.cuh in a CUDA source. `mapping` is automatic, block or split; rows of a
/// request's nodes are not kept on chip.
/// Throws: DeviceError if a CUDA call fails; std::invalid_argument if the mapping is not available, or if a scheme
/// carries state and `carries` is null; std::logic_error if the scheme's info says that it has no device form.
template <class V, class Entry>
void verify_steps(const V& verifier, const StepBatch<Entry>& batch, Stream stream,
                  Mapping mapping = Mapping::automatic);

}  // namespace draftproof::gpu
