// Steps on a GPU from plain C++: no CUDA header is needed to call them, only the library draftproof::gpu, which
// holds kernels for the schemes of verifiers/paths and the walks of the verifiers of one position. Trees come from a
// TreeBatch (tree_batch.hpp).
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <draftproof/gpu/launch.hpp>
#include <draftproof/gpu/verify_steps.hpp>

namespace draftproof::gpu {

/// Accepted node and extra token of each request. A request of `unserved` reached a branch of probability zero: its
/// tree cannot have been drawn from its rows, or the rows are no laws.
struct StepResults {
  std::vector<StepOutput> steps;      ///< [B]
  std::vector<DeviceCarry> carries;   ///< [B]: of the next iteration
  std::vector<std::size_t> unserved;  ///< requests, ascending; empty in a sound batch
};

/// A copy in device memory of a batch in host memory that a TreeBatch was shown in: trees, `rows` rows of both
/// models, and carries, empty ones if the batch has none. Throws std::invalid_argument if strides or sizes are out of
/// range, DeviceError if a copy fails. Entry = float, double, Bfloat16 or Half.
template <class Entry>
class DeviceSteps {
 public:
  DeviceSteps(const StepBatch<Entry>& host, std::int64_t rows);
  ~DeviceSteps();
  DeviceSteps(DeviceSteps&&) noexcept;
  DeviceSteps& operator=(DeviceSteps&&) noexcept;

  /// The batch in device memory.
  const StepBatch<Entry>& view() const;
  /// Waits for the device and copies the results back.
  StepResults results() const;

 private:
  struct Buffers;
  std::unique_ptr<Buffers> buffers_;
};

/// The steps of a batch in host memory (`steps` is not read): copies in, verifies, copies out.
template <class V, class Entry>
StepResults verify_steps_copied(const V& verifier, const StepBatch<Entry>& host, std::int64_t rows,
                                      Mapping mapping = Mapping::automatic) {
  const DeviceSteps<Entry> device(host, rows);
  verify_steps(verifier, device.view(), Stream{}, mapping);
  return device.results();
}

}  // namespace draftproof::gpu
