// Simulation on a GPU from plain C++: trials of a verifier at fixed (p, q, K), one thread a trial, with the host's
// tokens. No CUDA header is needed to call it, only the library draftproof::gpu.
//
//   DeviceTable    a ratio table in device memory, copied once
//   DeviceCounts   what trials are counted in, there; what a gate counts beside a Tally, too (joint_counting.hpp)
//   simulate       both and the trials: the Tally that the host has of the same ones
//
// Right because a trial's words are those of its number and counts are integers: any grid gives the same Tally.
#pragma once

#include <memory>
#include <string_view>
#include <type_traits>

#include <draftproof/gpu/launch.hpp>
#include <draftproof/gpu/simulation/joint_counting.hpp>
#include <draftproof/gpu/verify_batch.hpp>
#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/sim/trials/counts.hpp>

namespace draftproof::gpu {

struct HotTokens;
struct TotalCounts;
struct JointTotals;

/// A table on the device that is current: copied from the host's, which must outlive it, or built there from rows in
/// device memory (gpu/ratio_table.hpp). Throws DeviceError.
class DeviceTable {
 public:
  class Buffers;  // table_buffers.cuh, for what builds tables

  explicit DeviceTable(const RatioTable& table);
  explicit DeviceTable(std::unique_ptr<Buffers> buffers);
  ~DeviceTable();
  DeviceTable(DeviceTable&&) noexcept;
  DeviceTable& operator=(DeviceTable&&) noexcept;

  /// Where plans are prepared. Of a table that was built on the device, the first call copies it and may throw
  /// DeviceError.
  const TableView& host() const;
  const TableView& device() const;
  const HotTokens& hot() const;

 private:
  std::unique_ptr<Buffers> buffers_;
};

/// Counts of trials on `table`, in device memory; with the emitted tokens or without. Throws DeviceError.
class DeviceCounts {
 public:
  explicit DeviceCounts(const DeviceTable& table, bool histogram = true);
  /// No histogram: cells of all paths sum to it. Throws std::invalid_argument if `joint` does not fit the table.
  DeviceCounts(const DeviceTable& table, const JointCounting& joint);
  ~DeviceCounts();
  DeviceCounts(DeviceCounts&&) noexcept;
  DeviceCounts& operator=(DeviceCounts&&) noexcept;

  /// Queues: all counts are 0 from there on. Done before the constructor returns, too.
  void clear(Stream stream);
  const TotalCounts& totals() const;
  const JointTotals& joint() const;
  /// Waits for `stream`. `trials`: how many were counted.
  Tally tally(std::uint64_t trials, Stream stream) const;
  /// The same with what is counted together. Neighbours are of one call of count_trials.
  JointTally joint_tally(std::uint64_t trials, Stream stream) const;

 private:
  struct Buffers;
  std::unique_ptr<Buffers> buffers_;
};

/// Queues trials on `stream` and returns; adds what they come to to `counts`. Compiled for every verifier of the tree
/// that keeps no memory in its plan, with the draft laws that its info names, or independent draws if it names none;
/// for others gpu/kernels/simulate.cuh has count_trials_of. `law` is a drafter's name. Throws std::logic_error where there is
/// no kernel, with the reason, std::invalid_argument for numbers of drafts that cannot be, DeviceError if a call
/// fails.
template <class V>
void count_trials(const V& verifier, std::string_view law, const DeviceTable& table, const TrialRange& range,
                  const DeviceCounts& counts, Stream stream);

/// Waits for the trials.
template <class V>
Tally simulate(const V& verifier, std::string_view law, const DeviceTable& table, const TrialRange& range,
               bool histogram = true, Stream stream = {}) {
  DeviceCounts counts(table, histogram);
  count_trials(verifier, law, table, range, counts, stream);
  return counts.tally(range.count, stream);
}
template <class V, class D>
requires(std::is_empty_v<D>) Tally simulate(const V& verifier, const D&, const DeviceTable& table,
                                            const TrialRange& range, bool histogram = true, Stream stream = {}) {
  return simulate(verifier, D::info.name, table, range, histogram, stream);
}

}  // namespace draftproof::gpu
