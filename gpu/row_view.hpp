// The rows of one position in an engine's buffers: one target row and one or several proposal rows.
#pragma once

#include <cstdint>
#include <type_traits>

#include <draftproof/gpu/chunks.hpp>
#include <draftproof/sim/numeric/short_float.hpp>
#include <draftproof/sim/token.hpp>

namespace draftproof::gpu {

/// Rows of `vocabulary` entries (double, float, Bfloat16 or Half) in the caller's memory, which must outlive the
/// view. Entries are converted to double exactly, as on the host, so every format gives the host's tokens.
template <class E>
struct RowView {
  using Entry = E;

  const Entry* target;
  const Entry* proposal;        ///< the first proposal row
  int vocabulary;               ///< V
  int proposals = 1;            ///< 1, or one per draft
  std::int64_t row_stride = 0;  ///< entries from one proposal row to the next

  DRAFTPROOF_DEVICE double p(Token x) const { return static_cast<double>(target[x]); }
  DRAFTPROOF_DEVICE double q(Token x, int k) const {
    return static_cast<double>(proposal[(proposals == 1 ? 0 : k) * row_stride + x]);
  }
  /// Whether four(x), with x a multiple of four, may be called.
  DRAFTPROOF_DEVICE bool in_fours() const {
    return std::is_same_v<Entry, float> && in_chunks(target) && in_chunks(proposal);
  }
  /// p and the first proposal of tokens x to x + 3.
  DRAFTPROOF_DEVICE FourTokens four(Token x) const {
    if constexpr (std::is_same_v<Entry, float>) return four_of(target + x, proposal + x);
    return {};
  }
};

}  // namespace draftproof::gpu
