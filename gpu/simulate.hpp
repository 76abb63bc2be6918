// Simulation on a GPU from plain C++: trials of a verifier at fixed (p, q, K), one thread per trial, with the host's
// tokens. It needs no CUDA header, only the library draftproof::gpu.
//
//   DeviceTable    a ratio table in device memory, copied once
//   DeviceCounts   counters of trials in device memory: of a Tally and, optionally, of a gate (joint_counting.hpp)
//   simulate       runs trials and returns the host's Tally of the same trials
//
// Correctness: a trial's random bits depend on its number only, and counts are integers, so any grid gives the same
// Tally.
#pragma once

#include <memory>
#include <string_view>
#include <type_traits>

#include <draftproof/gpu/launch.hpp>
#include <draftproof/gpu/simulation/joint_counting.hpp>
#include <draftproof/gpu/verify_batch.hpp>
#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/sim/tally.hpp>

namespace draftproof::gpu {

struct HotTokens;
struct TotalCounts;
struct JointTotals;

/// A ratio table on the current device: a copy of a host's table, which must outlive it, or a table built on the device
/// (gpu/ratio_table.hpp). Throws: DeviceError.
class DeviceTable {
 public:
  class Buffers;  // defined in table_buffers.cuh, which the code that builds tables includes

  explicit DeviceTable(const RatioTable& table);
  explicit DeviceTable(std::unique_ptr<Buffers> buffers);
  ~DeviceTable();
  DeviceTable(DeviceTable&&) noexcept;
  DeviceTable& operator=(DeviceTable&&) noexcept;

  /// The table in host memory, for preparing plans. If the table was built on the device, the first call copies it.
  /// Throws: DeviceError.
  const TableView& host() const;
  /// The table in device memory.
  const TableView& device() const;
  /// The tokens that get counters in each block's shared memory. The arrays of HotTokens lie in device memory.
  const HotTokens& hot() const;

 private:
  std::unique_ptr<Buffers> buffers_;
};

/// Counters of trials on `table`, in device memory, all 0 at first; with `histogram` they also count each emitted
/// token. Throws: DeviceError.
class DeviceCounts {
 public:
  explicit DeviceCounts(const DeviceTable& table, bool histogram = true);
  /// Counters of `joint`. There is no histogram, because it is the sum of JointTally::cells over paths.
  /// Throws: std::invalid_argument if `joint` does not fit the table; DeviceError.
  DeviceCounts(const DeviceTable& table, const JointCounting& joint);
  ~DeviceCounts();
  DeviceCounts(DeviceCounts&&) noexcept;
  DeviceCounts& operator=(DeviceCounts&&) noexcept;

  /// Queues on `stream` that all counts become 0. Throws: DeviceError.
  void clear(Stream stream);
  /// The counters in the form in which kernels take them.
  const TotalCounts& totals() const;
  const JointTotals& joint() const;
  /// Waits for `stream` and returns the counts of the `trials` trials run so far. Throws: DeviceError.
  Tally tally(std::uint64_t trials, Stream stream) const;
  /// Waits for `stream` and returns the counts with the joint counts. Serial dependence is counted within one call of
  /// count_trials. Throws: DeviceError.
  JointTally joint_tally(std::uint64_t trials, Stream stream) const;

 private:
  struct Buffers;
  std::unique_ptr<Buffers> buffers_;
};

/// Queues trials on `stream`, adds their counts to `counts` and returns. `distribution` is a drafter's name. Compiled
/// for every built-in verifier whose plan owns no memory, with the draft samplings that its info names, or with
/// independent draws if it names no sampling; for others gpu/kernels/simulate.cuh has count_trials_of.
/// Throws: std::logic_error with the reason if there is no kernel; std::invalid_argument if the number of drafts is
/// out of range; DeviceError if a CUDA call fails.
template <class V>
void count_trials(const V& verifier, std::string_view distribution, const DeviceTable& table, const TrialRange& range,
                  const DeviceCounts& counts, Stream stream);

/// Runs trials and returns their Tally after waiting for `stream`. Throws: as DeviceCounts and count_trials do.
template <class V>
Tally simulate(const V& verifier, std::string_view distribution, const DeviceTable& table, const TrialRange& range,
               bool histogram = true, Stream stream = {}) {
  DeviceCounts counts(table, histogram);
  count_trials(verifier, distribution, table, range, counts, stream);
  return counts.tally(range.count, stream);
}
template <class V, class D>
requires(std::is_empty_v<D>) Tally simulate(const V& verifier, const D&, const DeviceTable& table,
                                            const TrialRange& range, bool histogram = true, Stream stream = {}) {
  return simulate(verifier, D::info.name, table, range, histogram, stream);
}

}  // namespace draftproof::gpu
