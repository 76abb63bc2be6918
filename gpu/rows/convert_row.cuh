// Converts one row of any format and contents to a row of float probabilities in device memory, the input of the
// mappings that read rows at every pass.
//
// The float kernels read a row several times. Reading bf16 directly would take one kernel per format, or a test of
// the format at every entry of every pass; logits have to be written as probabilities in any case. Each row is
// therefore converted once, and the float kernels serve all formats.
// Cost: one more read and one more write of the row; the first pass then finds it in the second-level cache if it
// fits.
// Correctness: 16-bit entries become floats without rounding, so the tokens are the same.
#pragma once

#include <cstdint>

#include <draftproof/gpu/rows/distinct_rows.hpp>
#include <draftproof/gpu/teams/on_chip_rows.cuh>
#include <draftproof/gpu/teams/team_softmax.cuh>

namespace draftproof::gpu {

/// Converts row i of `rows`, whose entries have type Entry, into `out`, by a team of one partition. `notes` is scratch
/// with one entry per block of the softmax; `rows.batch.faults` is not null.
template <class Entry, Team T>
DRAFTPROOF_DEVICE void convert_row_of(const T& team, const DistinctRows& rows, std::int64_t i, float* out,
                                      SoftmaxNote* notes) {
  const StoredBatch& batch = rows.batch;
  const DistinctRow row = rows[i];
  const int vocabulary = batch.vocabulary;
  const auto* const entries = static_cast<const Entry*>(row.entries);
  if (batch.contents == Contents::probabilities) return copy_as_floats(team, entries, vocabulary, out);
  const SoftmaxOutcome outcome =
      team_softmax<false>(team, entries, 0, vocabulary, vocabulary, batch.inverse(row.row == 0), out, notes);
  if (!outcome.sound())
    rows.tell(row, outcome.fault(row.row), team.warp() * team.lanes() + team.lane(), team.warps() * team.lanes());
}

/// Converts row i of `rows`, whose entry type is the format of the batch, into `out`.
template <Team T>
DRAFTPROOF_DEVICE void convert_row(const T& team, const DistinctRows& rows, std::int64_t i, float* out,
                                   SoftmaxNote* notes) {
  with_entries(rows.batch.format, nullptr,
               [&]<class Entry>(const Entry*) { convert_row_of<Entry>(team, rows, i, out, notes); });
}

}  // namespace draftproof::gpu
