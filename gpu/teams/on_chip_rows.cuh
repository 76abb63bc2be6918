// The rows p and q of one position in the shared memory of a cluster, with a slice of the vocabulary in each block.
// Device memory is read once, whatever the verifier reads, and any block can look up any token.
//
//   own      [2, slice]    this partition's part of p, then of q, as floats
//   slice    tokens of a partition: x lies in partition x / slice
//
// Cost: a token of the own slice is a load of shared memory. A token of another takes a division and a load over the
// cluster's network; only look-ups of drafts do this, never a pass.
// Correctness: entries of bf16 and fp16 become floats without rounding.
#pragma once

#include <cstdint>
#include <type_traits>

#include <draftproof/gpu/row_view.hpp>
#include <draftproof/gpu/teams/team.hpp>

namespace draftproof::gpu {

/// A source of rows for TeamRows. Made by bring_on_chip().
template <class T>
struct OnChipRows {
  using Entry = float;

  int vocabulary, proposals;  ///< V, 1
  int first, slice;           ///< of this partition
  float* own;                 ///< [2, slice]
  T team;
  TeamLayout layout;

  DRAFTPROOF_DEVICE double p(Token x) const { return at(x, 0); }
  DRAFTPROOF_DEVICE double q(Token x, int) const { return at(x, slice); }

 private:
  DRAFTPROOF_DEVICE float at(Token x, int row) const {
    const auto inside = static_cast<unsigned>(x - first);
    if (inside < static_cast<unsigned>(slice)) return own[static_cast<unsigned>(row) + inside];
    const int partition = x / slice;
    return team.of_partition(own, partition)[row + x - partition * slice];
  }
};

/// Copies `count` entries as floats, by all threads of a partition; 16 bytes at a time if the row is aligned for it.
template <class Entry, class T>
DRAFTPROOF_DEVICE void copy_as_floats(const T& team, const Entry* row, int count, float* out) {
  const int thread = team.warp() * team.lanes() + team.lane(), threads = team.warps() * team.lanes();
  struct alignas(16) Chunk {
    Entry entries[16 / sizeof(Entry)];
  };
  constexpr int per_chunk = 16 / static_cast<int>(sizeof(Entry));
  int done = 0;
  if (reinterpret_cast<std::uintptr_t>(row) % alignof(Chunk) == 0) {
    const auto* const chunks = reinterpret_cast<const Chunk*>(row);
    const int whole = count / per_chunk;
#if defined(__CUDA_ARCH__)
#pragma unroll 4
#endif
    for (int c = thread; c < whole; c += threads) {
      const Chunk chunk = chunks[c];
      for (int i = 0; i < per_chunk; ++i) out[c * per_chunk + i] = static_cast<float>(chunk.entries[i]);
    }
    done = whole * per_chunk;
  }
  for (int i = done + thread; i < count; i += threads) out[i] = static_cast<float>(row[i]);
}

/// The rows in `own`. All of the team's threads must have passed a barrier since both rows were written.
template <class T>
DRAFTPROOF_DEVICE OnChipRows<T> on_chip_rows(const T& team, const TeamLayout& layout, float* own) {
  const int slice = layout.slice();
  return {layout.vocabulary, 1, team.partition() * slice, slice, own, team, layout};
}

/// The number of tokens of the vocabulary in this partition.
template <class T>
DRAFTPROOF_DEVICE int tokens_of_partition(const T& team, const TeamLayout& layout) {
  const int slice = layout.slice(), left = layout.vocabulary - team.partition() * slice;
  return left < 0 ? 0 : left < slice ? left : slice;
}

/// Reads this partition's slice of both rows into `own`. All threads of the team call it; each may then read any
/// token of the returned rows.
template <class Entry, class T>
DRAFTPROOF_DEVICE OnChipRows<T> bring_on_chip(const RowView<Entry>& rows, const T& team, float* own) {
  static_assert(sizeof(Entry) <= sizeof(float), "doubles do not fit");
  const TeamLayout layout(rows.vocabulary, team.lanes(), team.partitions());
  const int first = team.partition() * layout.slice(), count = tokens_of_partition(team, layout);
  copy_as_floats(team, rows.target + first, count, own);
  copy_as_floats(team, rows.proposal + first, count, own + layout.slice());
  team.barrier();
  return on_chip_rows(team, layout, own);
}

}  // namespace draftproof::gpu
