// Drafting on a device: draws the drafts of a batch of positions from proposal rows in device memory, with the tokens
// that the host draws. Its output is the input of a Batch of verification.
//
//   field      shape                     meaning
//   proposal   [B, M, V]                 proposal rows; M = `proposals` is 1 or at least the number of drafts
//   wanted     [B]                       drafts to draw at each position, 1 .. max_drafts and at most draft_stride
//   drafts     [B, K]                    written: tokens in draw order, `draft_stride` apart
//   counts     [B]                       written: drafts drawn; fewer than requested if q runs out of tokens
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <draftproof/gpu/mapping.hpp>
#include <draftproof/gpu/row_view.hpp>

struct CUstream_st;

namespace draftproof::gpu {

/// The views are in host or in device memory, as the function that takes the batch requires. Strides are in entries; 0
/// means one row for all positions. Position i is trial `first_trial` + i of `seed`. A simulation of this trial uses
/// the same random bits for the drafts; verification uses other bits. `counts` and `wanted` must not overlap.
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

  /// The rows of position i. A drafter does not read the target, so the target pointer is set to the first proposal.
  DRAFTPROOF_DEVICE RowView<Entry> rows(std::int64_t i) const {
    const Entry* const first = proposal + i * proposal_stride;
    return {first, first, vocabulary, proposals, proposal_row_stride};
  }
  /// The number of drafts to draw at position i: wanted[i], at most max_drafts and at most draft_stride.
  DRAFTPROOF_DEVICE int asked(std::int64_t i) const {
    const std::int64_t most = draft_stride < max_drafts ? draft_stride : max_drafts;
    return wanted[i] < most ? wanted[i] : static_cast<int>(most);
  }
};

/// Queues the drafts of a batch in device memory on `stream` and returns. A position gets fewer drafts if the row of
/// its next draw has no mass. Compiled for every built-in drafter with Entry = float; for others include
/// gpu/kernels/draft_batch.cuh in a CUDA source.
/// Throws: DeviceError if a CUDA call fails; std::invalid_argument if the mapping is not available. Mapping::cluster
/// is never available, since a draw reads its row only once.
template <class D, class Entry>
void draft_batch(const D& drafter, const DraftBatch<Entry>& batch, CUstream_st* stream,
                 Mapping mapping = Mapping::automatic);

/// The drafts of a batch, in host memory.
struct DraftTuples {
  std::vector<Token> drafts;         ///< [B, draft_stride]; no_token beyond counts[i]
  std::vector<std::int32_t> counts;  ///< [B]: drafts drawn at each position
};

/// Copies a batch from host to device memory; `drafts` and `counts` of the host's batch are not read. Entry = float,
/// double, Bfloat16 or Half.
/// Throws: std::invalid_argument if a size, a stride or a `wanted` is out of range (with the position, for `wanted`);
/// DeviceError if a copy fails.
template <class Entry>
class DeviceDrafts {
 public:
  explicit DeviceDrafts(const DraftBatch<Entry>& host);
  ~DeviceDrafts();
  DeviceDrafts(DeviceDrafts&&) noexcept;
  DeviceDrafts& operator=(DeviceDrafts&&) noexcept;

  /// The batch in device memory, valid as long as this object.
  const DraftBatch<Entry>& view() const;
  /// Waits for the device and returns the drafts in host memory. Throws: DeviceError.
  DraftTuples tuples() const;

 private:
  struct Buffers;
  std::unique_ptr<Buffers> buffers_;
};

/// Copies a batch from host memory, drafts it and returns its drafts. Throws: as DeviceDrafts and draft_batch do.
template <class D, class Entry>
DraftTuples draft_copied(const D& drafter, const DraftBatch<Entry>& host, Mapping mapping = Mapping::automatic) {
  const DeviceDrafts<Entry> device(host);
  draft_batch(drafter, device.view(), nullptr, mapping);
  return device.tuples();
}

}  // namespace draftproof::gpu
