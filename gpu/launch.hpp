// Verification on a GPU from plain C++: no CUDA header is needed to call it, only the library
// draftproof::gpu, which holds one kernel for each verifier of the tree.
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <draftproof/gpu/verify_batch.hpp>

namespace draftproof::gpu {

// A CUDA call that failed, as an exception that names it.

/// `call` is the function of the CUDA runtime, `message` its own text for the error.
class DeviceError : public std::runtime_error {
 public:
  DeviceError(const std::string& call, const std::string& message)
      : std::runtime_error(call + ": " + message), call_{call} {}
  const std::string& call() const { return call_; }

 private:
  std::string call_;
};

/// Devices that can be used now; 0 without a driver. Throws DeviceError if the driver fails otherwise.
int device_count();

/// The verdicts of a batch. A position of `unserved` reached a branch of probability zero: its drafts cannot
/// have been drawn from its rows, or the rows are no laws. Its token is no_token; no fallback hides it. Where rows
/// were found to be no laws, `refused` names row and token (describe(), row_fault.hpp).
struct BatchVerdicts {
  std::vector<Verdict> verdicts;         ///< [B]
  std::vector<std::size_t> unserved;     ///< positions, ascending; empty in a sound batch
  std::vector<RefusedPosition> refused;  ///< those of them whose rows are at fault
};

/// A copy in device memory of a batch in host memory. Throws std::invalid_argument, with the position, if
/// counts, strides or drafts are out of range, DeviceError if a copy fails. Entry = float, double,
/// Bfloat16 or Half.
template <class Entry>
class DeviceBatch {
 public:
  explicit DeviceBatch(const Batch<Entry>& host);
  ~DeviceBatch();
  DeviceBatch(DeviceBatch&&) noexcept;
  DeviceBatch& operator=(DeviceBatch&&) noexcept;

  /// The batch in device memory, with places for faults; stored(view(), ...) is the same with its format as a value.
  const Batch<Entry>& view() const;
  /// Waits for the device and copies the verdicts back.
  BatchVerdicts verdicts() const;

 private:
  struct Buffers;
  std::unique_ptr<Buffers> buffers_;
};

/// The verdicts of a batch in host memory (`verdicts` is not read): copies in, verifies, copies out.
template <class V, class Entry>
BatchVerdicts verify_copied(const V& verifier, const Batch<Entry>& host, Mapping mapping = Mapping::automatic) {
  const DeviceBatch<Entry> device(host);
  verify_batch(verifier, device.view(), Stream{}, mapping);
  return device.verdicts();
}

/// The same for logits, and for probabilities of any format that are to be checked: with the kernels of the tree.
template <class V, class Entry>
requires has_format<Entry> BatchVerdicts verify_copied(const V& verifier, const Batch<Entry>& host, Contents contents,
                                                       Temperatures temperatures = {},
                                                       const VerifyOptions& options = {}) {
  const DeviceBatch<Entry> device(host);
  verify_batch(verifier, stored(device.view(), contents, temperatures), Stream{}, options);
  return device.verdicts();
}

}  // namespace draftproof::gpu
