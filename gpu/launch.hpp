// Verification on a GPU from plain C++. It needs no CUDA header, only the library draftproof::gpu, which holds one
// kernel for each built-in verifier.
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <draftproof/gpu/verify_batch.hpp>

namespace draftproof::gpu {

/// A CUDA call that failed. `call` names the function of the CUDA runtime, `message` is the runtime's error text.
class DeviceError : public std::runtime_error {
 public:
  DeviceError(const std::string& call, const std::string& message)
      : std::runtime_error(call + ": " + message), call_{call} {}
  const std::string& call() const { return call_; }

 private:
  std::string call_;
};

/// Returns the number of usable devices; 0 without a driver. Throws: DeviceError if the driver fails otherwise.
int device_count();

/// The verdicts of a batch. A position in `unserved` has the token no_token, because it reached a branch of probability
/// zero: its drafts cannot have been drawn from its rows, or the rows are not distributions. If a check found that the
/// rows are not distributions, `refused` has the row and token at fault (describe(), row_fault.hpp).
struct BatchVerdicts {
  std::vector<Verdict> verdicts;         ///< [B]
  std::vector<std::size_t> unserved;     ///< positions, ascending; empty if rows and drafts are valid
  std::vector<RefusedPosition> refused;  ///< the unserved positions whose rows have a fault
};

/// A copy of a batch in device memory. Entry = float, double, Bfloat16 or Half. The constructor throws:
/// std::invalid_argument if sizes, strides, counts or drafts are out of range (with the position, for counts and
/// drafts); DeviceError if a copy fails.
template <class Entry>
class DeviceBatch {
 public:
  explicit DeviceBatch(const Batch<Entry>& host);
  ~DeviceBatch();
  DeviceBatch(DeviceBatch&&) noexcept;
  DeviceBatch& operator=(DeviceBatch&&) noexcept;

  /// Returns the batch with pointers to device memory, `faults` included; valid as long as this object.
  /// stored(view(), ...) is the same batch with its format as a run-time value (stored_batch.hpp).
  const Batch<Entry>& view() const;
  /// Waits for the device and returns the verdicts in host memory. Throws: DeviceError.
  BatchVerdicts verdicts() const;

 private:
  struct Buffers;
  std::unique_ptr<Buffers> buffers_;
};

/// Copies a batch from host memory (`verdicts` is not read), verifies it and returns its verdicts.
/// Throws: as DeviceBatch and verify_batch do.
template <class V, class Entry>
BatchVerdicts verify_copied(const V& verifier, const Batch<Entry>& host, Mapping mapping = Mapping::automatic) {
  const DeviceBatch<Entry> device(host);
  verify_batch(verifier, device.view(), Stream{}, mapping);
  return device.verdicts();
}

/// Copies a batch of logits, or of probabilities of a stored format, verifies it with or without a check, and returns
/// its verdicts. For built-in verifiers only.
template <class V, class Entry>
requires has_format<Entry> BatchVerdicts verify_copied(const V& verifier, const Batch<Entry>& host, Contents contents,
                                                       Temperatures temperatures = {},
                                                       const VerifyOptions& options = {}) {
  const DeviceBatch<Entry> device(host);
  verify_batch(verifier, stored(device.view(), contents, temperatures), Stream{}, options);
  return device.verdicts();
}

}  // namespace draftproof::gpu
