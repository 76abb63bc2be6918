// Whether some token of a strip satisfies a condition: what scans ask before they look at tokens one by one, because
// most strips hold nothing they want.
//
//   condition(x)   of tokens start .. start + strip - 1; may be asked about all of them, in any order
//
// Cost: a comparison a token, packed into wide registers where the condition is simple enough for the compiler.
#pragma once

#include <draftproof/sim/wide/strips.hpp>

namespace draftproof::wide {

namespace detail {

template <class Condition>
[[gnu::always_inline]] inline bool some_of_strip(const Condition& condition, Token start) {
  int found = 0;
  for (int i = 0; i < static_cast<int>(strip); ++i) found |= static_cast<int>(condition(start + i));
  return found != 0;
}

#if DRAFTPROOF_WIDE
template <class Condition>
DRAFTPROOF_AVX2 [[gnu::flatten]] bool avx2_some(const Condition& condition, Token start) {
  return some_of_strip(condition, start);
}
template <class Condition>
DRAFTPROOF_AVX512 [[gnu::flatten]] bool avx512_some(const Condition& condition, Token start) {
  return some_of_strip(condition, start);
}
#endif

}  // namespace detail

template <class Condition>
bool some(const Condition& condition, Token start, [[maybe_unused]] Width width = in_use()) {
#if DRAFTPROOF_WIDE
  if (width == Width::avx512) return detail::avx512_some(condition, start);
  if (width == Width::avx2) return detail::avx2_some(condition, start);
#endif
  return detail::some_of_strip(condition, start);
}

}  // namespace draftproof::wide
