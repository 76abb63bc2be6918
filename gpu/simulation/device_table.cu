// Tables and counts in device memory.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <draftproof/gpu/device/device_buffer.cuh>
#include <draftproof/gpu/simulation/hot_tokens.hpp>
#include <draftproof/gpu/simulate.cuh>

namespace draftproof::gpu {

struct DeviceTable::Buffers {
  struct Proposal {
    DeviceBuffer<std::uint64_t> cells, below;
    DeviceBuffer<std::uint32_t> rests, guide;
  };

  explicit Buffers(const RatioTable& table) : Buffers(table.view(), chosen_hot_tokens(table.view())) {}

  Buffers(const TableView& view, const ChosenHotTokens& chosen)
      : host{view},
        device{view},
        probabilities{view.probabilities, size() * (static_cast<std::size_t>(view.rows) + 1)},
        ratios{view.ratios.ratios, view.ratios.size},
        masses{view.masses, view.ratios.size + 1},
        tokens{view.tokens, view.ratios.size},
        likeliest{view.likeliest, std::min<std::size_t>(size(), max_drafts)},
        hot_tokens{chosen.tokens.data(), chosen.tokens.size()},
        start{view.ratios.start, view.ratios.cells + 1},
        slot{chosen.slot.data(), chosen.slot.size()} {
    device.probabilities = probabilities.data();
    device.tokens = tokens.data();
    device.masses = masses.data();
    device.likeliest = likeliest.data();
    device.ratios.ratios = ratios.data();
    device.ratios.start = start.data();
    for (int k = 0; k < view.rows; ++k) {
      const ProposalView& from = view.proposals[k];
      Proposal& to = proposals.emplace_back(Proposal{{from.cells, size()},
                                                     {from.sums.below, from.sums.sums},
                                                     {from.rests, size()},
                                                     {from.sums.guide, from.sums.guide_size()}});
      device.proposals[k] = {
          to.cells.data(), to.rests.data(), {to.below.data(), from.sums.sums, to.guide.data(), from.sums.shift}};
    }
    hot = {static_cast<int>(chosen.tokens.size()), hot_tokens.data(), slot.data()};
  }

  std::size_t size() const { return static_cast<std::size_t>(host.size); }

  TableView host, device;
  DeviceBuffer<double> probabilities, ratios;
  DeviceBuffer<TableMass> masses;
  DeviceBuffer<Token> tokens, likeliest, hot_tokens;
  DeviceBuffer<std::uint32_t> start;
  DeviceBuffer<std::uint16_t> slot;
  std::vector<Proposal> proposals;
  HotTokens hot;
};

DeviceTable::DeviceTable(const RatioTable& table) : buffers_{std::make_unique<Buffers>(table)} {}
DeviceTable::~DeviceTable() = default;
DeviceTable::DeviceTable(DeviceTable&&) noexcept = default;
DeviceTable& DeviceTable::operator=(DeviceTable&&) noexcept = default;

const TableView& DeviceTable::host() const { return buffers_->host; }
const TableView& DeviceTable::device() const { return buffers_->device; }
const HotTokens& DeviceTable::hot() const { return buffers_->hot; }

struct DeviceCounts::Buffers {
  static constexpr std::size_t before_histogram = max_drafts + 2;

  Buffers(std::size_t tokens_counted) : tokens{tokens_counted}, counts{nullptr, before_histogram + tokens_counted} {
    totals.by_draft = counts.data();
    totals.members = counts.data() + max_drafts;
    totals.impossible = totals.members + 1;
    if (tokens > 0) totals.histogram = counts.data() + before_histogram;
  }
  std::size_t size() const { return before_histogram + tokens; }

  std::size_t tokens;
  DeviceBuffer<TotalCounts::Count> counts;
  TotalCounts totals;
};

DeviceCounts::DeviceCounts(const DeviceTable& table, bool histogram)
    : buffers_{std::make_unique<Buffers>(histogram ? static_cast<std::size_t>(table.host().size) : 0)} {
  clear(Stream{});
  device_call("cudaStreamSynchronize", cudaStreamSynchronize(Stream{}));  // whatever stream comes next
}
DeviceCounts::~DeviceCounts() = default;
DeviceCounts::DeviceCounts(DeviceCounts&&) noexcept = default;
DeviceCounts& DeviceCounts::operator=(DeviceCounts&&) noexcept = default;

const TotalCounts& DeviceCounts::totals() const { return buffers_->totals; }

void DeviceCounts::clear(Stream stream) {
  device_call("cudaMemsetAsync",
              cudaMemsetAsync(buffers_->counts.data(), 0, buffers_->size() * sizeof(TotalCounts::Count), stream));
}

Tally DeviceCounts::tally(std::uint64_t trials, Stream stream) const {
  std::vector<TotalCounts::Count> counts(buffers_->size());
  device_call("cudaMemcpyAsync", cudaMemcpyAsync(counts.data(), buffers_->counts.data(),
                                                 counts.size() * sizeof counts[0], cudaMemcpyDeviceToHost, stream));
  device_call("cudaStreamSynchronize", cudaStreamSynchronize(stream));
  Tally tally;
  tally.trials = trials;
  std::copy_n(counts.begin(), max_drafts, tally.by_draft.begin());
  tally.flagged = std::accumulate(tally.by_draft.begin(), tally.by_draft.end(), std::uint64_t{0});
  tally.members = counts[max_drafts];
  tally.impossible = counts[max_drafts + 1];
  tally.histogram.assign(counts.begin() + Buffers::before_histogram, counts.end());
  return tally;
}

void no_trials(std::string_view verifier, std::string_view law) {
  throw std::logic_error(std::string{verifier} + " has no kernel for drafts of " + std::string{law});
}

void check_drafts(const Info& verifier, const DrafterInfo& drafter, const TableView& laws, int drafts) {
  const auto refuse = [&](std::string_view who, const std::string& wanted) {
    throw std::invalid_argument("simulate: " + std::to_string(drafts) + " drafts, but " + std::string{who} +
                                " takes " + wanted);
  };
  if (drafts < 1 || drafts > max_drafts) refuse("a position", "1 .. " + std::to_string(max_drafts));
  if (laws.rows > 1 && drafts > laws.rows) refuse("the table", "one for each of its proposals");
  const auto check = [&](std::string_view who, int fewest, int most) {
    if (drafts < fewest) refuse(who, std::to_string(fewest) + " or more");
    if (most > 0 && drafts > most) refuse(who, "at most " + std::to_string(most));
  };
  check(verifier.name, verifier.fewest_drafts, verifier.most_drafts);
  check(drafter.name, drafter.fewest_drafts, drafter.most_drafts);
  if (drafter.needs_k_tokens && drafts > laws.size) refuse(drafter.name, "no more than there are tokens");
}

unsigned int resident_blocks(const void* kernel, int threads) {
  int blocks = 0;
  device_call("cudaOccupancyMaxActiveBlocksPerMultiprocessor",
              cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, 0));
  return static_cast<unsigned int>(std::max(blocks, 1) * this_device().multiprocessors);
}

}  // namespace draftproof::gpu
