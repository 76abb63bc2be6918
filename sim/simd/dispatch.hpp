// The register width of passes over the vocabulary. Chosen once, by the processor; every width gives the same bits,
// so the choice changes times only.
//
//   widest()     the widest that processor and build offer
//   in_use()     the width of passes: widest() unless DRAFTPROOF_SIMD (scalar, avx2, avx512) or use() sets one
//   use(width)   sets the width for all threads; for tests and benchmarks
//   name_of(w)   name of a width, for reports
//
// Throws: std::invalid_argument if a width is requested that processor or build lack, so that no benchmark measures
// another width than requested.
#pragma once

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

// Code for wider registers than a build asks for: functions carry the instructions they use as an attribute, so that
// no compiler flag is needed and a program runs on every processor of its family.
//
//   DRAFTPROOF_WIDE        1 where such functions exist: x86-64 hosts, but not in CUDA sources
//   DRAFTPROOF_AVX2        a function with 256-bit registers; to be called only if in_use() allows it
//   DRAFTPROOF_AVX512      the same with 512-bit registers
//   DRAFTPROOF_AVX2_PART   a part of such a function, always inlined into it; takes and returns registers
//   DRAFTPROOF_INLINE      always inlined, for any target
//   DRAFTPROOF_WHOLE       inlines all its calls, and multiplies and adds in two roundings for any build flags
//
// Parts must be inlined: outside the target there is no calling convention for these registers. Lambdas do not
// inherit the attribute, so parts are member functions. Prefetches must be inlined too: g++ drops calls of functions
// that only prefetch.
#define DRAFTPROOF_INLINE [[gnu::always_inline]] inline

#if defined(__x86_64__) && !defined(__CUDACC__)
#define DRAFTPROOF_WIDE 1
// g++ 12 warns about the deliberately undefined operands inside its own intrinsics (GCC bug 105593).
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#pragma GCC diagnostic pop
#define DRAFTPROOF_AVX2 [[gnu::target("avx2,fma,f16c")]]
#define DRAFTPROOF_AVX2_PART [[gnu::target("avx2,fma,f16c"), gnu::always_inline]] inline
#define DRAFTPROOF_AVX512 [[gnu::target("avx2,fma,f16c,avx512f,avx512dq,avx512vl,avx512bw")]]
#define DRAFTPROOF_AVX512_PART \
  [[gnu::target("avx2,fma,f16c,avx512f,avx512dq,avx512vl,avx512bw"), gnu::always_inline]] inline
#ifdef __clang__
#define DRAFTPROOF_WHOLE [[gnu::flatten]]
#else
#define DRAFTPROOF_WHOLE [[gnu::flatten, gnu::optimize("fp-contract=off")]]
#endif
#else
#define DRAFTPROOF_WIDE 0
#endif

namespace draftproof::simd {

enum class Width { scalar, avx2, avx512 };

inline constexpr Width widths[] = {Width::scalar, Width::avx2, Width::avx512};

constexpr std::string_view name_of(Width width) {
  constexpr std::string_view names[] = {"scalar", "avx2", "avx512"};
  return names[static_cast<int>(width)];
}

inline Width widest() {
#if DRAFTPROOF_WIDE
  static const Width found = [] {
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return Width::scalar;
#if !defined(__clang__)  // clang 14 has no name for f16c, which every processor with the other two has
    if (!__builtin_cpu_supports("f16c")) return Width::scalar;
#endif
    const bool all = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                     __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
    return all ? Width::avx512 : Width::avx2;
  }();
  return found;
#else
  return Width::scalar;
#endif
}

namespace detail {
inline Width checked(Width width) {
  if (width > widest())
    throw std::invalid_argument("no " + std::string(name_of(width)) + " here: this processor and build offer " +
                                std::string(name_of(widest())));
  return width;
}
inline Width wished() {
  const char* wish = std::getenv("DRAFTPROOF_SIMD");
  if (wish == nullptr || *wish == '\0') return widest();
  for (const Width width : widths)
    if (wish == name_of(width)) return checked(width);
  throw std::invalid_argument("DRAFTPROOF_SIMD=" + std::string(wish) + ": scalar, avx2 or avx512");
}
inline std::atomic<Width>& chosen() {
  static std::atomic<Width> width{wished()};
  return width;
}
}  // namespace detail

inline Width in_use() { return detail::chosen().load(std::memory_order_relaxed); }
inline void use(Width width) { detail::chosen().store(detail::checked(width), std::memory_order_relaxed); }

/// Sets a width for the life of the object.
class Using {
 public:
  explicit Using(Width width) : before_{in_use()} { use(width); }
  ~Using() { use(before_); }
  Using(const Using&) = delete;
  Using& operator=(const Using&) = delete;

 private:
  Width before_;
};

}  // namespace draftproof::simd
