// Tables in device memory, and the checks of the arguments of a simulation.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <draftproof/gpu/device/device_buffer.cuh>
#include <draftproof/gpu/kernels/simulate.cuh>
#include <draftproof/gpu/simulation/hot_tokens.hpp>
#include <draftproof/gpu/tables/table_buffers.cuh>

namespace draftproof::gpu {

namespace {

/// The arrays of a host's table, in the layout of device memory.
std::vector<char> laid_out(const RatioTable& table) {
  const TableView view = table.view();
  const auto size = static_cast<std::size_t>(view.size), rows = static_cast<std::size_t>(view.rows);
  std::vector<char> memory(TableArrays(nullptr, size, rows, view.ratios.size).bytes);
  const TableArrays to(memory.data(), size, rows, view.ratios.size);
  std::copy_n(view.probabilities, size * (1 + rows), to.probabilities);
  std::copy_n(view.ratios.ratios, to.tokens, to.ratios);
  std::copy_n(view.masses, to.tokens + 1, to.masses);
  std::copy_n(view.tokens, to.tokens, to.order);
  std::copy_n(view.likeliest, to.likeliest_size, to.likeliest);
  std::copy_n(view.ratios.start, to.cells + 1, to.start);
  const ChosenHotTokens hot = chosen_hot_tokens(view);
  std::copy(hot.tokens.begin(), hot.tokens.end(), to.hot_tokens);
  std::copy(hot.slot.begin(), hot.slot.end(), to.slot);
  for (std::size_t k = 0; k < rows; ++k) {
    const ProposalView& from = view.proposals[k];
    std::copy_n(from.cells, size, to.proposals[k].cells);
    std::copy_n(from.rests, size, to.proposals[k].rests);
    std::copy_n(from.sums.below, from.sums.sums, to.proposals[k].below);
    std::copy_n(from.sums.guide, from.sums.guide_size(), to.proposals[k].guide);
  }
  return memory;
}

}  // namespace

DeviceTable::Buffers::Buffers(std::size_t vocabulary, std::size_t rows, std::size_t tokens)
    : memory_{nullptr, TableArrays(nullptr, vocabulary, rows, tokens).bytes},
      arrays_(memory_.data(), vocabulary, rows, tokens),
      device_{arrays_.view()},
      hot_{arrays_.hot()} {}

DeviceTable::Buffers::Buffers(const RatioTable& table)
    : Buffers(static_cast<std::size_t>(table.vocabulary()), static_cast<std::size_t>(table.proposals()),
              table.order().size()) {
  const std::vector<char> from = laid_out(table);
  device_call("cudaMemcpy", cudaMemcpy(memory_.data(), from.data(), from.size(), cudaMemcpyHostToDevice));
  std::call_once(copied_, [&] { host_ = table.view(); });
}

const TableView& DeviceTable::Buffers::host() const {
  std::call_once(copied_, [this] {
    copy_ = memory_.copy();
    host_ = TableArrays(copy_.data(), arrays_.vocabulary, arrays_.rows, arrays_.tokens).view();
  });
  return host_;
}

DeviceTable::DeviceTable(const RatioTable& table) : buffers_{std::make_unique<Buffers>(table)} {}
DeviceTable::DeviceTable(std::unique_ptr<Buffers> buffers) : buffers_{std::move(buffers)} {}
DeviceTable::~DeviceTable() = default;
DeviceTable::DeviceTable(DeviceTable&&) noexcept = default;
DeviceTable& DeviceTable::operator=(DeviceTable&&) noexcept = default;

const TableView& DeviceTable::host() const { return buffers_->host(); }
const TableView& DeviceTable::device() const { return buffers_->device(); }
const HotTokens& DeviceTable::hot() const { return buffers_->hot(); }

void no_trials(std::string_view verifier, std::string_view distribution) {
  throw std::logic_error(std::string{verifier} + " has no kernel for drafts of " + std::string{distribution});
}

void check_drafts(const Info& verifier, const DrafterInfo& drafter, const TableView& distributions, int drafts) {
  const auto refuse = [&](std::string_view who, const std::string& wanted) {
    throw std::invalid_argument("simulate: " + std::to_string(drafts) + " drafts, but " + std::string{who} +
                                " takes " + wanted);
  };
  if (drafts < 1 || drafts > max_drafts) refuse("a position", "1 .. " + std::to_string(max_drafts));
  if (distributions.rows > 1 && drafts > distributions.rows) refuse("the table", "one for each of its proposals");
  const auto check = [&](std::string_view who, int fewest, int most) {
    if (drafts < fewest) refuse(who, std::to_string(fewest) + " or more");
    if (most > 0 && drafts > most) refuse(who, "at most " + std::to_string(most));
  };
  check(verifier.name, verifier.fewest_drafts, verifier.most_drafts);
  check(drafter.name, drafter.fewest_drafts, drafter.most_drafts);
  if (drafter.needs_k_tokens && drafts > distributions.size) refuse(drafter.name, "no more than there are tokens");
}

unsigned int resident_blocks(const void* kernel, int threads) {
  int blocks = 0;
  device_call("cudaOccupancyMaxActiveBlocksPerMultiprocessor",
              cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, 0));
  return static_cast<unsigned int>(std::max(blocks, 1) * this_device().multiprocessors);
}

}  // namespace draftproof::gpu
