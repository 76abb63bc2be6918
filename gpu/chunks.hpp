// Reads rows 16 bytes at a time.
#pragma once

#include <cstdint>

#include <draftproof/sim/token.hpp>

namespace draftproof::gpu {

/// 16 bytes, which a thread reads or writes at once.
template <class Entry>
struct alignas(16) Chunk {
  static constexpr int size = 16 / static_cast<int>(sizeof(Entry));
  Entry entries[size];
};

/// Whether a row begins at a multiple of 16 bytes, as chunks require.
template <class Entry>
DRAFTPROOF_DEVICE bool in_chunks(const Entry* row) {
  return reinterpret_cast<std::uintptr_t>(row) % sizeof(Chunk<Entry>) == 0;
}

/// Copies `count` entries as floats, by all threads of a partition; 16 bytes at a time if both rows are aligned for
/// it.
template <class Entry, class T>
DRAFTPROOF_DEVICE void copy_as_floats(const T& team, const Entry* row, int count, float* out) {
  constexpr int size = Chunk<Entry>::size, together = 4;  // a thread loads `together` chunks, then stores them
  static_assert(size % 4 == 0, "a chunk of entries fills chunks of floats");
  const int thread = team.warp() * team.lanes() + team.lane(), threads = team.warps() * team.lanes();
  const int whole = in_chunks(row) && in_chunks(out) ? count / size : 0;
  const auto* const from = reinterpret_cast<const Chunk<Entry>*>(row);
  auto* const to = reinterpret_cast<Chunk<float>*>(out);
  for (int c = thread; c < whole; c += together * threads) {
    Chunk<Entry> held[together];
    for (int j = 0; j < together; ++j)
      if (c + j * threads < whole) held[j] = from[c + j * threads];
    for (int j = 0; j < together && c + j * threads < whole; ++j)
      for (int i = 0; i < size; i += 4) {
        Chunk<float> floats;
        for (int k = 0; k < 4; ++k) floats.entries[k] = static_cast<float>(held[j].entries[i + k]);
        to[((c + j * threads) * size + i) / 4] = floats;
      }
  }
  for (int i = whole * size + thread; i < count; i += threads) out[i] = static_cast<float>(row[i]);
}

/// p and q of four consecutive tokens.
struct FourTokens {
  Chunk<float> p, q;
};

/// Requires: both addresses are aligned for chunks.
DRAFTPROOF_DEVICE inline FourTokens four_of(const float* p, const float* q) {
  return {*reinterpret_cast<const Chunk<float>*>(p), *reinterpret_cast<const Chunk<float>*>(q)};
}

}  // namespace draftproof::gpu
