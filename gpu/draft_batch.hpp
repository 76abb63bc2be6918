// Drafting on a device: the tuples of a drafter for a batch of positions, from proposal rows in device memory, as the
// host draws them. What it writes is what a Batch of verification reads.
//
//   field      shape                     meaning
//   proposal   [B, M, V]                 proposal rows; M = `proposals` is 1 or at least the number of drafts
//   wanted     [B]                       drafts asked of each position, 1 .. max_drafts and no more than draft_stride
//   drafts     [B, K]                    written: tokens in draw order, `draft_stride` apart
//   counts     [B]                       written: drafts drawn; fewer than wanted where the law ends early
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <draftproof/gpu/mapping.hpp>
#include <draftproof/gpu/row_view.hpp>

struct CUstream_st;

namespace draftproof::gpu {

/// Views in host or in device memory, as the function that takes it says; strides in entries, 0 for a row that all
/// positions share. Position i is trial `first_trial` + i of `seed`; its words are those that a simulation drafts
/// with, and verification of the same trial reads none of them. `counts` may not be `wanted`.
template <class Entry>
struct DraftBatch {
  int positions = 0, vocabulary = 0, proposals = 1;
  const Entry* proposal = nullptr;
  std::int64_t proposal_stride = 0, proposal_row_stride = 0;
  const std::int32_t* wanted = nullptr;
  Token* drafts = nullptr;
  std::int64_t draft_stride = 0;
  std::int32_t* counts = nullptr;
  std::uint64_t seed = 0, first_trial = 0;

  /// A drafter reads proposals alone: the first stands in for the target.
  DRAFTPROOF_DEVICE RowView<Entry> rows(std::int64_t i) const {
    const Entry* const first = proposal + i * proposal_stride;
    return {first, first, vocabulary, proposals, proposal_row_stride};
  }
  DRAFTPROOF_DEVICE int asked(std::int64_t i) const {
    const std::int64_t most = draft_stride < max_drafts ? draft_stride : max_drafts;
    return wanted[i] < most ? wanted[i] : static_cast<int>(most);
  }
};

/// Queues the drafts of a batch in device memory on `stream` and returns. A tuple ends before a draw from a row
/// without mass, which a law does not have. Compiled for every drafter of the tree with Entry = float; for others
/// include gpu/kernels/draft_batch.cuh in a CUDA source. Throws DeviceError if a call fails, std::invalid_argument if the
/// mapping cannot be had: there is none by cluster, since a draw reads its row once.
template <class D, class Entry>
void draft_batch(const D& drafter, const DraftBatch<Entry>& batch, CUstream_st* stream,
                 Mapping mapping = Mapping::automatic);

/// Tuples of a batch in host memory.
struct DraftTuples {
  std::vector<Token> drafts;         ///< [B, draft_stride]; no_token where there is none
  std::vector<std::int32_t> counts;  ///< [B]
};

/// A copy in device memory of a batch in host memory, of which `drafts` and `counts` are not read. Throws
/// std::invalid_argument, with the position, if a number or a stride is out of range, DeviceError if a copy fails.
/// Entry = float, double, Bfloat16 or Half.
template <class Entry>
class DeviceDrafts {
 public:
  explicit DeviceDrafts(const DraftBatch<Entry>& host);
  ~DeviceDrafts();
  DeviceDrafts(DeviceDrafts&&) noexcept;
  DeviceDrafts& operator=(DeviceDrafts&&) noexcept;

  const DraftBatch<Entry>& view() const;
  /// Waits for the device and copies the tuples back.
  DraftTuples tuples() const;

 private:
  struct Buffers;
  std::unique_ptr<Buffers> buffers_;
};

/// The tuples of a batch in host memory: copies in, drafts, copies out.
template <class D, class Entry>
DraftTuples draft_copied(const D& drafter, const DraftBatch<Entry>& host, Mapping mapping = Mapping::automatic) {
  const DeviceDrafts<Entry> device(host);
  draft_batch(drafter, device.view(), nullptr, mapping);
  return device.tuples();
}

}  // namespace draftproof::gpu
