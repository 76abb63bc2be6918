// Copies batches of decisions to device memory.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <draftproof/gpu/device/device_buffer.cuh>
#include <draftproof/gpu/launch.hpp>
#include <draftproof/gpu/require_at_least.hpp>

namespace draftproof::gpu {
namespace {

/// Returns the number of entries from the beginning of the first to the end of the last of `rows` rows of `length`
/// entries that are `stride` apart.
std::size_t extent(std::int64_t rows, std::int64_t stride, std::int64_t length) {
  return rows == 0 ? 0 : static_cast<std::size_t>((rows - 1) * stride + length);
}

[[noreturn]] void refuse(int position, const std::string& what, std::int64_t found, const std::string& wanted) {
  throw std::invalid_argument("batch: position " + std::to_string(position) + ": " + what + ": got " +
                              std::to_string(found) + ", expected " + wanted);
}

template <class Entry>
const Batch<Entry>& checked(const Batch<Entry>& host) {
  require_at_least("batch", "positions", host.positions, 0);
  require_at_least("batch", "vocabulary", host.vocabulary, 1);
  require_at_least("batch", "proposals", host.proposals, 1);
  require_at_least("batch", "target_stride", host.target_stride, 0);
  require_at_least("batch", "proposal_stride", host.proposal_stride, 0);
  require_at_least("batch", "proposal_row_stride", host.proposal_row_stride, 0);
  const std::int64_t most = std::min<std::int64_t>(max_drafts, host.draft_stride);
  for (int i = 0; i < host.positions; ++i) {
    const int count = host.counts[i];
    if (count < 1 || count > most) refuse(i, "the number of drafts", count, "1 .. " + std::to_string(most));
    if (host.proposals > 1 && count > host.proposals)
      refuse(i, "the number of drafts", count, "at most one per proposal row");
    for (int k = 0; k < count; ++k)
      if (const Token x = host.drafts_at(i)[k]; x < 0 || x >= host.vocabulary)
        refuse(i, "draft " + std::to_string(k), x, "a token below " + std::to_string(host.vocabulary));
  }
  return host;
}

}  // namespace

template <class Entry>
struct DeviceBatch<Entry>::Buffers {
  explicit Buffers(const Batch<Entry>& host)
      : target{host.target, extent(host.positions, host.target_stride, host.vocabulary)},
        proposal{
            host.proposal,
            extent(host.positions, host.proposal_stride,
                   static_cast<std::int64_t>(extent(host.proposals, host.proposal_row_stride, host.vocabulary)))},
        drafts{host.drafts,
               extent(host.positions, host.draft_stride, host.positions == 0 ? 0 : host.counts[host.positions - 1])},
        counts{host.counts, extent(host.positions, 1, 1)},
        faults{std::vector<std::uint64_t>(extent(host.positions, 1, 1), no_fault).data(),
               extent(host.positions, 1, 1)},
        verdicts{nullptr, extent(host.positions, 1, 1)},
        view{host} {
    view.target = target.data();
    view.proposal = proposal.data();
    view.drafts = drafts.data();
    view.counts = counts.data();
    view.faults = faults.data();
    view.verdicts = verdicts.data();
  }

  DeviceBuffer<Entry> target, proposal;
  DeviceBuffer<Token> drafts;
  DeviceBuffer<std::int32_t> counts;
  DeviceBuffer<std::uint64_t> faults;
  DeviceBuffer<Verdict> verdicts;
  Batch<Entry> view;
};

template <class Entry>
DeviceBatch<Entry>::DeviceBatch(const Batch<Entry>& host) : buffers_{std::make_unique<Buffers>(checked(host))} {}
template <class Entry>
DeviceBatch<Entry>::~DeviceBatch() = default;
template <class Entry>
DeviceBatch<Entry>::DeviceBatch(DeviceBatch&&) noexcept = default;
template <class Entry>
DeviceBatch<Entry>& DeviceBatch<Entry>::operator=(DeviceBatch&&) noexcept = default;

template <class Entry>
const Batch<Entry>& DeviceBatch<Entry>::view() const {
  return buffers_->view;
}

template <class Entry>
BatchVerdicts DeviceBatch<Entry>::verdicts() const {
  device_call("cudaDeviceSynchronize", cudaDeviceSynchronize());
  BatchVerdicts result;
  result.verdicts = buffers_->verdicts.copy();
  const std::vector<std::uint64_t> faults = buffers_->faults.copy();
  for (std::size_t i = 0; i < result.verdicts.size(); ++i) {
    if (result.verdicts[i].token == no_token) result.unserved.push_back(i);
    if (faults[i] != no_fault) result.refused.push_back({static_cast<std::int64_t>(i), RowFault::of_word(faults[i])});
  }
  return result;
}

template class DeviceBatch<float>;
template class DeviceBatch<double>;
template class DeviceBatch<Bfloat16>;
template class DeviceBatch<Half>;

}  // namespace draftproof::gpu
