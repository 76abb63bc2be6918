// Loads rows of any format into shared memory as floats. Format and contents are tested once per row, so the passes
// over the rows need no such test.
//
//   slices    [2, slice]    this partition's part of p, then of q (on_chip_rows.cuh)
//   notes     [blocks]      behind the slices, for rows of logits (team_softmax.cuh)
//
// Cost: device memory is read once in whole lines; softmax works on chip, with four barriers per row.
#pragma once

#include <cstddef>
#include <cstdint>

#include <draftproof/gpu/stored_batch.hpp>
#include <draftproof/gpu/teams/on_chip_rows.cuh>
#include <draftproof/gpu/teams/team_softmax.cuh>

namespace draftproof::gpu {

/// The layout of partitions that consist of whole softmax blocks.
DRAFTPROOF_DEVICE inline TeamLayout on_chip_layout(int vocabulary, int lanes, int shares) {
  return {vocabulary, lanes, shares, softmax_block_size};
}

/// Bytes of shared memory that a block needs for its slice.
DRAFTPROOF_DEVICE constexpr std::size_t on_chip_bytes(int slice) {
  return 2 * sizeof(float) * static_cast<std::size_t>(slice) +
         sizeof(SoftmaxNote) * static_cast<std::size_t>(softmax_blocks(slice));
}

/// Rows in shared memory; `fault` encodes their fault if they are not distributions, and is no_fault otherwise.
template <class T>
struct BroughtOnChip {
  OnChipRows<T> rows;
  std::uint64_t fault;
};

/// Reads this partition's slice of both rows of a position. All threads of the team call it, with `memory` of
/// on_chip_bytes() in each block; each may then read any token of the rows.
template <class T>
DRAFTPROOF_DEVICE BroughtOnChip<T> bring_on_chip(const StoredBatch& batch, std::int64_t position, const T& team,
                                                 float* memory) {
  const TeamLayout layout = on_chip_layout(batch.vocabulary, team.lanes(), team.partitions());
  const int slice = layout.slice(), first = team.partition() * slice, count = tokens_of_partition(team, layout);
  for (int row = 0; row < 2; ++row) {
    const void* const stored = row == 0 ? batch.target_row(position) : batch.proposal_row(position, 0);
    with_entries(batch.format, stored, [&](const auto* entries) {
      if (count > 0) copy_on_chip(team, entries + first, count, memory + row * slice);
    });
  }
  copies_arrived();
  // The barrier of the block is for race checkers of shared memory, which do not recognise barriers of clusters.
  team.own_partition().partition_barrier();
  team.barrier();
  std::uint64_t fault = no_fault;
  if (batch.contents == Contents::logits) {
    auto* const notes = reinterpret_cast<SoftmaxNote*>(memory + 2 * slice);
    for (int row = 0; row < 2 && fault == no_fault; ++row) {
      float* const own = memory + row * slice;
      const SoftmaxOutcome outcome =
          team_softmax<true>(team, own, first, count, batch.vocabulary, batch.inverse(row == 0), own, notes);
      if (!outcome.sound()) fault = outcome.fault(row).word();
    }
  }
  return {on_chip_rows(team, layout, memory), fault};
}

}  // namespace draftproof::gpu
