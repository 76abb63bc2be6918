// Passages on a GPU from plain C++: no CUDA header is needed to call them, only the library draftproof::gpu, which
// holds kernels for the schemes of verifiers/paths and the walks of the verifiers of one position. Trees come from a
// TreeBatch (tree_batch.hpp).
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <draftproof/gpu/device_error.hpp>
#include <draftproof/gpu/verify_steps.hpp>

namespace draftproof::gpu {

/// Accepted node and extra token of each request. A request of `unserved` reached a branch of probability zero: its
/// tree cannot have been drawn from its rows, or the rows are no laws.
struct PassageResults {
  std::vector<Passage> passages;      ///< [B]
  std::vector<DeviceCarry> carries;   ///< [B]: of the next iteration
  std::vector<std::size_t> unserved;  ///< requests, ascending; empty in a sound batch
};

/// A copy in device memory of a batch in host memory that a TreeBatch was shown in: trees, `rows` rows of both
/// models, and carries, empty ones if the batch has none. Throws std::invalid_argument if strides or sizes are out of
/// range, DeviceError if a copy fails. Entry = float, double, Bfloat16 or Half.
template <class Entry>
class DevicePassages {
 public:
  DevicePassages(const PassageBatch<Entry>& host, std::int64_t rows);
  ~DevicePassages();
  DevicePassages(DevicePassages&&) noexcept;
  DevicePassages& operator=(DevicePassages&&) noexcept;

  /// The batch in device memory.
  const PassageBatch<Entry>& view() const;
  /// Waits for the device and copies the results back.
  PassageResults results() const;

 private:
  struct Buffers;
  std::unique_ptr<Buffers> buffers_;
};

/// The passages of a batch in host memory (`passages` is not read): copies in, verifies, copies out.
template <class V, class Entry>
PassageResults verify_passages_copied(const V& verifier, const PassageBatch<Entry>& host, std::int64_t rows,
                                      Mapping mapping = Mapping::automatic) {
  const DevicePassages<Entry> device(host, rows);
  verify_passages(verifier, device.view(), Stream{}, mapping);
  return device.results();
}

}  // namespace draftproof::gpu
