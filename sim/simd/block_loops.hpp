// The loops that add up one block of terms as integers, at every register width.
//
//   scalar_sum, scalar_each    term by term; scalar_each writes the integers instead of their sum
//   whole_sum                  sum of at most 1024 terms, in registers: a multiple of 16 floats or 8 doubles
//   sum                        sum of at most 1024 terms
//   sums                       sums of all blocks of a row, and their total
//
// Cost: each term is computed once.
// Correctness: terms are the same numbers at every width (residual_terms.hpp, float_residual_terms.hpp), truncated to
// the same integers, whose sum is the same in any order (exact_sums.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <draftproof/sim/numeric/exp.hpp>
#include <draftproof/sim/numeric/fixed_point.hpp>
#include <draftproof/sim/simd/exact_sums.hpp>
#include <draftproof/sim/simd/float_residual_terms.hpp>
#include <draftproof/sim/simd/registers.hpp>
#include <draftproof/sim/simd/residual_terms.hpp>

namespace draftproof::simd {

/// Number of terms in a partial sum, and number of terms that a search for a token adds at a time.
inline constexpr std::size_t block = 1024, strip = 64;

/// Returns the sum of the terms start .. end - 1, one after another. Inlined, so that std::fma becomes an instruction
/// if the calling function's target has it.
template <class Term>
DRAFTPROOF_INLINE Fixed scalar_sum(const Term& term, std::size_t start, std::size_t end) {
  Fixed sum = 0;
  for (std::size_t i = start; i < end; ++i) sum += to_fixed(term.one(i));
  return sum;
}

template <class Term>
DRAFTPROOF_INLINE void scalar_each(const Term& term, std::size_t start, std::size_t end, Fixed* integers) {
  for (std::size_t i = start; i < end; ++i) *integers++ = to_fixed(term.one(i));
}

#if DRAFTPROOF_WIDE
namespace detail {
/// Calls scalar_each, compiled for an instruction set in which std::fma is an instruction instead of a library call.
template <class Term>
DRAFTPROOF_AVX2 void fusing_each(const Term& term, std::size_t start, std::size_t end, Fixed* integers) {
  scalar_each(term, start, end, integers);
}
}  // namespace detail
#endif

}  // namespace draftproof::simd

#define DRAFTPROOF_BODY <draftproof/sim/simd/block_body.hpp>
#include <draftproof/sim/simd/each_width.hpp>
