// Tables in device memory, and what is checked before a kernel sees one.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <draftproof/gpu/device/device_buffer.cuh>
#include <draftproof/gpu/simulate.cuh>
#include <draftproof/gpu/simulation/hot_tokens.hpp>

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
