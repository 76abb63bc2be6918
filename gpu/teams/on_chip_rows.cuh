// The rows p and q of one position in the shared memory of a cluster, with a slice of the vocabulary in each block.
// Device memory is read once, whatever the verifier reads, and any block can look up any token.
//
//   own      [2, slice]    this partition's part of p, then of q, as floats
//   slice    tokens of a partition: x lies in partition x / slice
//
// Cost: reading a token of this block's slice is one load from shared memory. Reading a token of another slice takes a
// division and a load over the cluster's network; only look-ups of drafts do this. Passes read OwnTokens, which does
// not test in which slice a token lies. Correctness: entries of bf16 and fp16 become floats without rounding.
#pragma once

#include <cstdint>
#include <type_traits>

#include <draftproof/gpu/chunks.hpp>
#include <draftproof/gpu/row_view.hpp>
#include <draftproof/gpu/teams/team.hpp>

namespace draftproof::gpu {

/// The rows p and q on the tokens of one partition, over which the partition's threads make passes. Every x must be in
/// first .. first + slice - 1.
struct OwnTokens {
  using Entry = float;

  int first, slice;  ///< first token and number of tokens; multiples of four
  const float* own;  ///< [2, slice]: p, then q; 16-byte aligned

  DRAFTPROOF_DEVICE float p(Token x) const { return own[x - first]; }
  DRAFTPROOF_DEVICE float q(Token x, int) const { return own[x - first + slice]; }
  DRAFTPROOF_DEVICE static bool in_fours() { return true; }
  DRAFTPROOF_DEVICE FourTokens four(Token x) const { return four_of(own + (x - first), own + (x - first + slice)); }
};

/// A source of rows for TeamRows, which bring_on_chip() makes.
template <class T>
struct OnChipRows {
  using Entry = float;

  int vocabulary, proposals;  ///< V, 1
  int first, slice;           ///< first token and number of tokens of this partition
  float* own;                 ///< [2, slice]
  T team;
  TeamLayout layout;

  DRAFTPROOF_DEVICE double p(Token x) const { return at(x, 0); }
  DRAFTPROOF_DEVICE double q(Token x, int) const { return at(x, slice); }
  DRAFTPROOF_DEVICE OwnTokens own_tokens() const { return {first, slice, own}; }

 private:
  DRAFTPROOF_DEVICE float at(Token x, int row) const {
    const auto inside = static_cast<unsigned>(x - first);
    if (inside < static_cast<unsigned>(slice)) return own[static_cast<unsigned>(row) + inside];
    const int partition = x / slice;
    return team.of_partition(own, partition)[row + x - partition * slice];
  }
};

/// Copies a row to shared memory as floats. On a device, rows of float in aligned chunks are copied by cp.async, which
/// does not wait. The entries can be read once all threads have called copies_arrived() and then passed a barrier.
template <class Entry, class T>
DRAFTPROOF_DEVICE void copy_on_chip(const T& team, const Entry* row, int count, float* out) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<Entry, float>)
    if (in_chunks(row)) {
      // cp.async bypasses the registers, so a thread does not wait for its loads.
      const int thread = team.warp() * team.lanes() + team.lane(), threads = team.warps() * team.lanes();
      const auto to = static_cast<unsigned>(__cvta_generic_to_shared(out));
      for (int c = thread; c < count / 4; c += threads)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + 16u * static_cast<unsigned>(c)),
                     "l"(row + 4 * c)
                     : "memory");
      for (int i = count / 4 * 4 + thread; i < count; i += threads) out[i] = row[i];
      return;
    }
#endif
  copy_as_floats(team, row, count, out);
}

/// Waits for this thread's copies.
DRAFTPROOF_DEVICE inline void copies_arrived() {
#if defined(__CUDA_ARCH__)
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/// Returns the rows that `own` holds. All of the team's threads must have passed a barrier since both rows were
/// written.
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
  copy_on_chip(team, rows.target + first, count, own);
  copy_on_chip(team, rows.proposal + first, count, own + layout.slice());
  copies_arrived();
  team.barrier();
  return on_chip_rows(team, layout, own);
}

}  // namespace draftproof::gpu
