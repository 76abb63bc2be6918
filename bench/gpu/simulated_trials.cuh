// Trials of recursive rejection on four independent drafts of a large vocabulary, to time simulation on the device.
//
//   flat     random entries of similar size in p and q: two lanes of a warp seldom emit the same token
//   peaked   one token has .9 of p and half of that in q: nine of ten trials add to one counter
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

#include <draftproof/gpu/simulate.hpp>
#include <draftproof/sim/random/philox4x32.hpp>
#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/verifiers/recursive_rejection.hpp>

namespace draftproof::gpu_bench {

class SimulatedTrials {
 public:
  static constexpr int vocabulary = 32000, drafts = 4;
  static constexpr std::uint64_t trials = std::uint64_t{1} << 24;

  explicit SimulatedTrials(bool peaked)
      : host_(row(0, peaked ? .9 : 0), row(1, peaked ? .45 : 0)), table_(host_), counts_(table_) {}

  /// Queues `trials` trials, the same trials in every call.
  void queue(gpu::Stream stream) const {
    gpu::count_trials(verifiers::RecursiveRejection{}, "iid", table_,
                      {.seed = 1, .first = 0, .count = trials, .drafts = drafts}, counts_, stream);
  }
  /// Throws: std::runtime_error unless every queued trial was counted and no trial reached a branch of probability 0.
  void check(gpu::Stream stream) const {
    const Tally tally = counts_.tally(trials, stream);
    const std::uint64_t counted = std::accumulate(tally.histogram.begin(), tally.histogram.end(), std::uint64_t{0});
    if (counted == 0 || counted % trials != 0 || tally.impossible != 0)
      throw std::runtime_error("simulation: trials are missing");
  }

 private:
  /// Returns a row with mass `first` on token 0 and random entries on the other tokens.
  static std::vector<double> row(std::uint64_t stream, double first) {
    std::vector<double> entries(vocabulary);
    for (std::size_t x = 0; x < entries.size(); ++x)
      entries[x] = .1 + unit_interval(philox_pair(1, stream, static_cast<std::uint32_t>(x), 0).first);
    if (first > 0) entries[0] = 0;
    const double total = std::accumulate(entries.begin(), entries.end(), 0.0);
    for (double& entry : entries) entry *= (1 - first) / total;
    entries[0] += first;
    return entries;
  }

  RatioTable host_;
  gpu::DeviceTable table_;
  gpu::DeviceCounts counts_;
};

}  // namespace draftproof::gpu_bench
