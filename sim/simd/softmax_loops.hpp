// The loops of softmax over one block of logits in wide registers. Every operation of the scalar functions in
// softmax.hpp has one counterpart here, on 8 or 16 entries.
//
// The end of a block is padded with -infinity, whose power is 0.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <draftproof/sim/numeric/exp.hpp>
#include <draftproof/sim/simd/readers.hpp>
#include <draftproof/sim/simd/registers.hpp>

#if DRAFTPROOF_WIDE
namespace draftproof::simd {
namespace detail {

inline constexpr float infinite_logit = std::numeric_limits<float>::infinity();

/// Writes entries start .. count - 1, fewer than `lanes`, and -infinity after them.
template <std::size_t lanes, class Reader>
void padded(const Reader& logits, std::size_t start, std::size_t count, float* rest) {
  std::fill_n(rest, lanes, -infinite_logit);
  for (std::size_t i = start; i < count; ++i) rest[i - start] = logits.one(i);
}

/// Prefetches the entries one block after entry i, which the next call reads. A prefetch past the end never faults.
template <class Reader>
void fetch_next_block(const Reader& logits, std::size_t i) {
  __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(logits.first + i) +
                                                   1024 * sizeof(*logits.first)));
}

/// Returns the sum of the powers in all lanes after `calls` additions, in units of 2^-46: subtracts the bits of 1 and
/// 1.5 that every addition included, modulo 2^32. In at most 129 calls coarse parts stay below 129 2^23, and fine
/// parts below 129 2^22 in size.
inline std::uint64_t sum_of_lanes(const std::uint32_t* coarse, const std::uint32_t* fine, std::size_t lanes,
                                  std::size_t calls) {
  const auto count = static_cast<std::uint32_t>(calls);
  std::uint64_t sum = 0;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const std::uint32_t units = coarse[lane] - count * bit_cast<std::uint32_t>(1.0f);
    const auto small = static_cast<std::int32_t>(fine[lane] - count * bit_cast<std::uint32_t>(1.5f));
    sum += (std::uint64_t{units} << 23) + static_cast<std::uint64_t>(std::int64_t{small});
  }
  return sum;
}

}  // namespace detail
}  // namespace draftproof::simd

#define DRAFTPROOF_BODY <draftproof/sim/simd/softmax_body.hpp>
#include <draftproof/sim/simd/each_width.hpp>
#endif
