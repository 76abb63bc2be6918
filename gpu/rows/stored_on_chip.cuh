// Rows of any format on chip, as floats: what the format and the contents are is asked when a row is brought, once,
// and no pass over it knows.
//
//   slices    [2, slice]    this share's part of p, then of q (on_chip_rows.cuh)
//   notes     [blocks]      behind them, for rows of logits (team_softmax.cuh)
//
// Cost: device memory is read once in whole lines; softmax works on what is on chip, with four barriers a row.
#pragma once

#include <cstddef>
#include <cstdint>

#include <draftproof/gpu/teams/team_softmax.cuh>
#include <draftproof/gpu/teams/on_chip_rows.cuh>
#include <draftproof/gpu/stored_batch.hpp>

namespace draftproof::gpu {

/// Shares of whole blocks of softmax.
DRAFTPROOF_DEVICE inline TeamLayout on_chip_layout(int vocabulary, int lanes, int shares) {
  return {vocabulary, lanes, shares, softmax_block_size};
}

/// Bytes of shared memory that a block needs for its slice.
DRAFTPROOF_DEVICE constexpr std::size_t on_chip_bytes(int slice) {
  return 2 * sizeof(float) * static_cast<std::size_t>(slice) +
         sizeof(SoftmaxNote) * static_cast<std::size_t>(softmax_blocks(slice));
}

/// Rows on chip, or the word of the fault that makes them no law.
template <class T>
struct BroughtOnChip {
  OnChipRows<T> rows;
  std::uint64_t fault;
};

/// Reads this share's slice of both rows of a position; all of the team's threads call it, with `memory` of
/// on_chip_bytes for each share, and may use the rows on any token.
template <class T>
DRAFTPROOF_DEVICE BroughtOnChip<T> bring_on_chip(const StoredBatch& batch, std::int64_t position, const T& team,
                                                 float* memory) {
  const TeamLayout layout = on_chip_layout(batch.vocabulary, team.lanes(), team.partitions());
  const int slice = layout.slice(), first = team.partition() * slice, count = tokens_of_partition(team, layout);
  for (int row = 0; row < 2; ++row) {
    const void* const stored = row == 0 ? batch.target_row(position) : batch.proposal_row(position, 0);
    with_entries(batch.format, stored, [&](const auto* entries) {
      if (count > 0) copy_as_floats(team, entries + first, count, memory + row * slice);
    });
  }
  team.barrier();
  std::uint64_t fault = no_fault;
  if (batch.contents == Contents::logits) {
    auto* const notes = reinterpret_cast<SoftmaxNote*>(memory + 2 * slice);
    for (int row = 0; row < 2 && fault == no_fault; ++row) {
      float* const own = memory + row * slice;
      const SoftmaxOutcome outcome =
          team_softmax(team, own, first, count, batch.vocabulary, batch.inverse(row == 0), own, notes);
      if (!outcome.sound()) fault = outcome.fault(row).word();
    }
  }
  return {on_chip_rows(team, layout, memory), fault};
}

}  // namespace draftproof::gpu
