// Copies batches of drafts to device memory.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <draftproof/gpu/device/device_buffer.cuh>
#include <draftproof/gpu/draft_batch.hpp>
#include <draftproof/gpu/require_at_least.hpp>

namespace draftproof::gpu {
namespace {

template <class Entry>
const DraftBatch<Entry>& checked(const DraftBatch<Entry>& host) {
  require_at_least("drafts", "positions", host.positions, 0);
  require_at_least("drafts", "vocabulary", host.vocabulary, 1);
  require_at_least("drafts", "proposals", host.proposals, 1);
  require_at_least("drafts", "proposal_stride", host.proposal_stride, 0);
  require_at_least("drafts", "proposal_row_stride", host.proposal_row_stride, 0);
  std::int64_t most = std::min<std::int64_t>(max_drafts, host.draft_stride);
  if (host.proposals > 1) most = std::min<std::int64_t>(most, host.proposals);
  for (int i = 0; i < host.positions; ++i)
    if (host.wanted[i] < 1 || host.wanted[i] > most)
      throw std::invalid_argument("drafts: position " + std::to_string(i) + ": the number of drafts: got " +
                                  std::to_string(host.wanted[i]) + ", expected 1 .. " + std::to_string(most));
  return host;
}

/// Returns the number of entries from the beginning of the first to the end of the last of `rows` rows of `length`
/// entries that are `stride` apart.
std::size_t extent(std::int64_t rows, std::int64_t stride, std::size_t length) {
  return rows == 0 ? 0 : static_cast<std::size_t>((rows - 1) * stride) + length;
}

}  // namespace

template <class Entry>
struct DeviceDrafts<Entry>::Buffers {
  explicit Buffers(const DraftBatch<Entry>& host)
      : proposal{host.proposal,
                 extent(host.positions, host.proposal_stride,
                        extent(host.proposals, host.proposal_row_stride, static_cast<std::size_t>(host.vocabulary)))},
        wanted{host.wanted, static_cast<std::size_t>(host.positions)},
        drafts{std::vector<Token>(size(host), no_token).data(), size(host)},
        counts{nullptr, static_cast<std::size_t>(host.positions)},
        view{host} {
    view.proposal = proposal.data();
    view.wanted = wanted.data();
    view.drafts = drafts.data();
    view.counts = counts.data();
  }
  static std::size_t size(const DraftBatch<Entry>& host) {
    return static_cast<std::size_t>(host.positions) * static_cast<std::size_t>(host.draft_stride);
  }

  DeviceBuffer<Entry> proposal;
  DeviceBuffer<std::int32_t> wanted;
  DeviceBuffer<Token> drafts;
  DeviceBuffer<std::int32_t> counts;
  DraftBatch<Entry> view;
};

template <class Entry>
DeviceDrafts<Entry>::DeviceDrafts(const DraftBatch<Entry>& host)
    : buffers_{std::make_unique<Buffers>(checked(host))} {}
template <class Entry>
DeviceDrafts<Entry>::~DeviceDrafts() = default;
template <class Entry>
DeviceDrafts<Entry>::DeviceDrafts(DeviceDrafts&&) noexcept = default;
template <class Entry>
DeviceDrafts<Entry>& DeviceDrafts<Entry>::operator=(DeviceDrafts&&) noexcept = default;

template <class Entry>
const DraftBatch<Entry>& DeviceDrafts<Entry>::view() const {
  return buffers_->view;
}

template <class Entry>
DraftTuples DeviceDrafts<Entry>::tuples() const {
  device_call("cudaDeviceSynchronize", cudaDeviceSynchronize());
  return {buffers_->drafts.copy(), buffers_->counts.copy()};
}

template class DeviceDrafts<float>;
template class DeviceDrafts<double>;
template class DeviceDrafts<Bfloat16>;
template class DeviceDrafts<Half>;

}  // namespace draftproof::gpu
