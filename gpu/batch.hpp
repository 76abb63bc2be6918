// A batch of decisions in a kernel's memory: the rows, drafts and verdicts of B positions. Strides let a kernel use
// an engine's own buffers in place.
//
//   field      shape                     meaning
//   target     [B, V]                    target rows, `target_stride` entries apart
//   proposal   [B, M, V]                 proposal rows; M = `proposals` is 1 or the number of drafts
//   drafts     [B, K]                    draft tokens in draw order, `draft_stride` apart
//   counts     [B]                       number of drafts of each position, 1 .. K
//   faults     [B]                       read unless null: a position with a fault (row_fault.hpp) is not verified
//   verdicts   [B]                       written: token and accepted index
#pragma once

#include <cstdint>

#include <draftproof/gpu/row_fault.hpp>
#include <draftproof/gpu/row_view.hpp>

namespace draftproof::gpu {

/// The views are in host or in device memory, as the function that takes the batch requires. Strides are in entries;
/// a stride of 0 means that all positions share a row. Position i uses the random bits of trial `first_trial` + i of
/// `seed`. Rows are probabilities of type Entry that sum to 1 up to rounding.
template <class Entry>
struct Batch {
  int positions = 0;   ///< B
  int vocabulary = 0;  ///< V
  int proposals = 1;   ///< M
  const Entry* target = nullptr;
  std::int64_t target_stride = 0;
  const Entry* proposal = nullptr;
  std::int64_t proposal_stride = 0;      ///< from one position's first proposal row to the next position's
  std::int64_t proposal_row_stride = 0;  ///< from one proposal row of a position to its next; unused if M is 1
  const Token* drafts = nullptr;
  std::int64_t draft_stride = 0;
  const std::int32_t* counts = nullptr;
  std::uint64_t seed = 0, first_trial = 0;
  std::uint64_t* faults = nullptr;
  Verdict* verdicts = nullptr;

  /// The rows of position i, as a view without a copy.
  DRAFTPROOF_DEVICE RowView<Entry> rows(std::int64_t i) const {
    return {target + i * target_stride, proposal + i * proposal_stride, vocabulary, proposals, proposal_row_stride};
  }
  /// Whether position i has a fault.
  DRAFTPROOF_DEVICE bool refused(std::int64_t i) const { return faults != nullptr && faults[i] != no_fault; }
  /// The drafts of position i: at least counts[i] tokens.
  DRAFTPROOF_DEVICE const Token* drafts_at(std::int64_t i) const { return drafts + i * draft_stride; }
};

}  // namespace draftproof::gpu
