// Runs verification steps on a GPU from plain C++. A caller needs no CUDA header, only the library draftproof::gpu,
// which has kernels for the schemes of verifiers/paths and for NodeByNode<V> of each verifier V of one position. Trees
// come from a TreeBatch (tree_batch.hpp).
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <draftproof/gpu/launch.hpp>
#include <draftproof/gpu/verify_steps.hpp>

namespace draftproof::gpu {

/// Accepted node and extra token of each request. A request in `unserved` reached a branch of probability zero: its
/// tree cannot have been drawn from its rows, or the rows are not distributions.
struct StepResults {
  std::vector<StepOutput> steps;      ///< [B]
  std::vector<DeviceCarry> carries;   ///< [B]: input of the next iteration
  std::vector<std::size_t> unserved;  ///< indices of requests, ascending; empty for valid input
};

/// Copies a batch with its trees, `rows` rows of both models and its carries (empty ones if it has none) from host to
/// device memory. Its trees come from TreeBatch::show. Entry = float, double, Bfloat16 or Half.
/// Throws: std::invalid_argument if strides or sizes are out of range; DeviceError if a copy fails.
template <class Entry>
class DeviceSteps {
 public:
  DeviceSteps(const StepBatch<Entry>& host, std::int64_t rows);
  ~DeviceSteps();
  DeviceSteps(DeviceSteps&&) noexcept;
  DeviceSteps& operator=(DeviceSteps&&) noexcept;

  /// The batch in device memory, valid as long as this object.
  const StepBatch<Entry>& view() const;
  /// Waits for the device and returns the results in host memory. Throws: DeviceError.
  StepResults results() const;

 private:
  struct Buffers;
  std::unique_ptr<Buffers> buffers_;
};

/// Copies a batch from host memory (`steps` is not read), verifies it and returns its results.
/// Throws: as DeviceSteps and verify_steps do.
template <class V, class Entry>
StepResults verify_steps_copied(const V& verifier, const StepBatch<Entry>& host, std::int64_t rows,
                                Mapping mapping = Mapping::automatic) {
  const DeviceSteps<Entry> device(host, rows);
  verify_steps(verifier, device.view(), Stream{}, mapping);
  return device.results();
}

}  // namespace draftproof::gpu
