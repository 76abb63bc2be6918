// One row of any format and contents becomes a row of float probabilities in device memory: what the mappings that
// read rows at every pass are given.
//
// Their kernels read a row several times. Reading bf16 there would take a kernel for each format, or ask for the
// format at every entry of every pass; logits have to be written as probabilities in any case. So a row is converted
// once and the float kernels serve all formats. Cost: one read and one write more, both of a row that the first pass
// then finds in the second-level cache if it fits. The tokens are the same: entries become floats without rounding.
#pragma once

#include <cstdint>

#include <draftproof/gpu/teams/team_softmax.cuh>
#include <draftproof/gpu/teams/on_chip_rows.cuh>
#include <draftproof/gpu/rows/distinct_rows.hpp>

namespace draftproof::gpu {

/// Row i of `rows` into `out`, by a team of one share; `notes` has room for its blocks. `rows.batch.faults` is there.
template <Team T>
DRAFTPROOF_DEVICE void convert_row(const T& team, const DistinctRows& rows, std::int64_t i, float* out,
                                   SoftmaxNote* notes) {
  const StoredBatch& batch = rows.batch;
  const DistinctRow row = rows[i];
  const int vocabulary = batch.vocabulary;
  with_entries(batch.format, row.entries, [&](const auto* entries) {
    if (batch.contents == Contents::probabilities) return copy_as_floats(team, entries, vocabulary, out);
    const SoftmaxOutcome outcome =
        team_softmax(team, entries, 0, vocabulary, vocabulary, batch.inverse(row.row == 0), out, notes);
    if (!outcome.sound())
      rows.tell(row, outcome.fault(row.row), team.warp() * team.lanes() + team.lane(), team.warps() * team.lanes());
  });
}

}  // namespace draftproof::gpu
