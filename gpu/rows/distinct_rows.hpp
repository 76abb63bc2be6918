// The rows of a batch as a list without repetition: a row that positions share is listed once. Conversions and checks
// go through this list, with one team per row.
//
//   rows     targets()          B, or 1 if all positions share one
//            groups()           positions with their own proposal rows; 1 if all share; 0 without proposals (M = 0)
//            per_group()        proposal rows of a position: M, or 1 if they are one row
//   apart    row_apart()        entries between converted rows, a whole number of memory lines
//
// Cost: operator[] takes one division of integers.
#pragma once

#include <cstddef>
#include <cstdint>

#include <draftproof/gpu/float_rows.hpp>
#include <draftproof/gpu/stored_batch.hpp>

namespace draftproof::gpu {

struct DistinctRow {
  const void* entries;
  int row;                ///< number of the row at its position, as in RowFault; 0 is the target
  std::int64_t position;  ///< the row's position, or 0 if shared
  bool shared;            ///< whether all positions share the row
};

struct DistinctRows {
  StoredBatch batch;

  DRAFTPROOF_DEVICE std::int64_t targets() const { return batch.target_stride == 0 ? 1 : batch.positions; }
  DRAFTPROOF_DEVICE std::int64_t groups() const {
    return batch.proposals == 0 ? 0 : batch.proposal_stride == 0 ? 1 : batch.positions;
  }
  DRAFTPROOF_DEVICE std::int64_t per_group() const { return batch.proposal_row_stride == 0 ? 1 : batch.proposals; }
  DRAFTPROOF_DEVICE std::int64_t size() const { return targets() + groups() * per_group(); }
  DRAFTPROOF_DEVICE DistinctRow operator[](std::int64_t i) const {
    if (i < targets()) return {batch.target_row(i), 0, i, batch.target_stride == 0};
    const std::int64_t position = (i - targets()) / per_group();
    const int k = static_cast<int>((i - targets()) % per_group());
    return {batch.proposal_row(position, k), 1 + k, position, batch.proposal_stride == 0};
  }

  DRAFTPROOF_DEVICE std::int64_t row_apart() const { return float_row_stride(batch.vocabulary); }
  /// Number of floats in all converted rows.
  DRAFTPROOF_DEVICE std::int64_t floats() const { return size() * row_apart(); }
  /// Returns the batch with its rows replaced by the converted rows; row i of the list is at rows + i * row_apart().
  DRAFTPROOF_DEVICE Batch<float> converted(const float* rows) const {
    const std::int64_t apart = row_apart(), of_position = per_group() * apart;
    return batch.with_rows(rows, batch.target_stride == 0 ? 0 : apart, rows + targets() * apart,
                           batch.proposal_stride == 0 ? 0 : of_position, per_group() == 1 ? 0 : apart);
  }
  /// Returns the batch with its rows unchanged. Requires rows that are probabilities in float.
  DRAFTPROOF_DEVICE Batch<float> as_they_are() const {
    return batch.with_rows(static_cast<const float*>(batch.target), batch.target_stride,
                           static_cast<const float*>(batch.proposal), batch.proposal_stride,
                           batch.proposal_row_stride);
  }

  /// Records a fault of `row` at every position that reads this row. All threads of a team make the call; `thread` is
  /// the index of the calling thread.
  DRAFTPROOF_DEVICE void tell(const DistinctRow& row, const RowFault& fault, int thread, int threads) const {
    if (!row.shared) {
      if (thread == 0) tell_fault(batch.faults + row.position, fault.word());
    } else {
      for (std::int64_t i = thread; i < batch.positions; i += threads) tell_fault(batch.faults + i, fault.word());
    }
  }
};

}  // namespace draftproof::gpu
