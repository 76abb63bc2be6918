// Counters in device memory, all in one array: the members of a Tally, then the joint counts (joint_counting.hpp):
// cells, drafts and serial_dependence.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <draftproof/gpu/device/device_buffer.cuh>
#include <draftproof/gpu/kernels/simulate.cuh>

namespace draftproof::gpu {

struct DeviceCounts::Buffers {
  using Count = TotalCounts::Count;
  static constexpr std::size_t before_histogram = max_drafts + 2;

  Buffers(std::size_t tokens_counted, const JointCounting& what, std::size_t vocabulary)
      : tokens{tokens_counted},
        cells{vocabulary * static_cast<std::size_t>(what.paths)},
        drafts{vocabulary * static_cast<std::size_t>(what.drafts)},
        serial_dependence{static_cast<std::size_t>(what.groups) * static_cast<std::size_t>(what.groups)},
        counts{nullptr, size()},
        group{what.group.data(), what.group.size()} {
    totals.by_draft = counts.data();
    totals.draft_emitted = counts.data() + max_drafts;
    totals.impossible = totals.draft_emitted + 1;
    if (tokens > 0) totals.histogram = counts.data() + before_histogram;
    if (cells == 0) return;
    joint.paths = what.paths;
    joint.counted_drafts = what.drafts;
    joint.groups = what.groups;
    joint.vocabulary = static_cast<Token>(vocabulary);
    joint.pairs = what.pairs;
    joint.cells = counts.data() + before_histogram + tokens;
    if (drafts > 0) joint.drafts = joint.cells + cells;
    if (serial_dependence > 0) joint.serial_dependence = joint.cells + cells + drafts;
    joint.group = group.data();
  }

  std::size_t size() const { return before_histogram + tokens + cells + drafts + serial_dependence; }

  std::vector<Count> copy(Stream stream) const {
    std::vector<Count> copied(size());
    device_call("cudaMemcpyAsync", cudaMemcpyAsync(copied.data(), counts.data(), copied.size() * sizeof(Count),
                                                   cudaMemcpyDeviceToHost, stream));
    device_call("cudaStreamSynchronize", cudaStreamSynchronize(stream));
    return copied;
  }

  Tally tally(const std::vector<Count>& copied, std::uint64_t trials) const {
    Tally tally;
    tally.trials = trials;
    std::copy_n(copied.begin(), max_drafts, tally.by_draft.begin());
    tally.draft_accepted = std::accumulate(tally.by_draft.begin(), tally.by_draft.end(), std::uint64_t{0});
    tally.draft_emitted = copied[max_drafts];
    tally.impossible = copied[max_drafts + 1];
    tally.histogram.assign(copied.data() + before_histogram, copied.data() + before_histogram + tokens);
    return tally;
  }

  std::size_t tokens, cells, drafts, serial_dependence;
  DeviceBuffer<Count> counts;
  DeviceBuffer<std::uint32_t> group;
  TotalCounts totals;
  JointTotals joint;
};

namespace {

constexpr JointCounting nothing_jointly{.paths = 0};

std::size_t vocabulary_of(const DeviceTable& table) { return static_cast<std::size_t>(table.device().size); }

const JointCounting& checked(const JointCounting& joint, const DeviceTable& table) {
  const std::size_t vocabulary = vocabulary_of(table);
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<int>::max());  // indices are int
  if (joint.paths < 1 || joint.paths > max_drafts + 1 || joint.drafts < 0 || joint.drafts > max_drafts ||
      vocabulary > most / (max_drafts + 1))
    throw std::invalid_argument("joint counts: got " + std::to_string(joint.paths) + " paths, " +
                                std::to_string(joint.drafts) + " drafts and a vocabulary of " +
                                std::to_string(vocabulary) + ", expected 1 .. " + std::to_string(max_drafts + 1) +
                                ", 0 .. " + std::to_string(max_drafts) + " and at most " +
                                std::to_string(most / (max_drafts + 1)));
  const bool grouped = joint.groups > 0;
  if (joint.group.size() != (grouped ? vocabulary : 0) ||
      std::any_of(joint.group.begin(), joint.group.end(),
                  [&joint](std::uint32_t group) { return group >= static_cast<std::uint32_t>(joint.groups); }))
    throw std::invalid_argument("joint counts: got groups of " + std::to_string(joint.group.size()) +
                                " tokens, expected one below " + std::to_string(joint.groups) + " for each of " +
                                std::to_string(grouped ? vocabulary : 0) + " tokens");
  return joint;
}

}  // namespace

DeviceCounts::DeviceCounts(const DeviceTable& table, bool histogram)
    : buffers_{
          std::make_unique<Buffers>(histogram ? vocabulary_of(table) : 0, nothing_jointly, vocabulary_of(table))} {
  clear(Stream{});
  device_call("cudaStreamSynchronize", cudaStreamSynchronize(Stream{}));  // any stream may follow
}
DeviceCounts::DeviceCounts(const DeviceTable& table, const JointCounting& joint)
    : buffers_{std::make_unique<Buffers>(0, checked(joint, table), vocabulary_of(table))} {
  clear(Stream{});
  device_call("cudaStreamSynchronize", cudaStreamSynchronize(Stream{}));
}
DeviceCounts::~DeviceCounts() = default;
DeviceCounts::DeviceCounts(DeviceCounts&&) noexcept = default;
DeviceCounts& DeviceCounts::operator=(DeviceCounts&&) noexcept = default;

const TotalCounts& DeviceCounts::totals() const { return buffers_->totals; }
const JointTotals& DeviceCounts::joint() const { return buffers_->joint; }

void DeviceCounts::clear(Stream stream) {
  device_call("cudaMemsetAsync",
              cudaMemsetAsync(buffers_->counts.data(), 0, buffers_->size() * sizeof(TotalCounts::Count), stream));
}

Tally DeviceCounts::tally(std::uint64_t trials, Stream stream) const {
  return buffers_->tally(buffers_->copy(stream), trials);
}

JointTally DeviceCounts::joint_tally(std::uint64_t trials, Stream stream) const {
  const std::vector<TotalCounts::Count> copied = buffers_->copy(stream);
  JointTally joint;
  joint.tally = buffers_->tally(copied, trials);
  const auto* from = copied.data() + Buffers::before_histogram + buffers_->tokens;
  const auto take = [&from](std::vector<std::uint64_t>& into, std::size_t size) {
    into.assign(from, from + size);
    from += size;
  };
  take(joint.cells, buffers_->cells);
  take(joint.drafts, buffers_->drafts);
  take(joint.serial_dependence, buffers_->serial_dependence);
  return joint;
}

}  // namespace draftproof::gpu
