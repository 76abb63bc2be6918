// The width of the registers in passes over the vocabulary, chosen once by the processor's features. Every width
// gives the same bits, so the choice changes only times.
//
//   widest()     the largest width that processor and build support
//   in_use()     the width that passes use: widest(), or less by DRAFTPROOF_SIMD (scalar, avx2, avx512) or use()
//   use(width)   sets the width for all threads, for tests and benchmarks
//   name_of(w)   the name of a width, for reports
//
// Throws: std::invalid_argument for a width that the processor or the build does not support.
#pragma once

#include <atomic>
#include <cstdlib>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

// Code for wider registers than the compiler's flags allow: each function has an attribute that names the instruction
// set that it uses, so no compiler flag is needed and the program runs on every x86-64 processor.
//
//   DRAFTPROOF_WIDE        1 where such functions exist: x86-64 hosts, but not in CUDA sources
//   DRAFTPROOF_AVX2        a function of 256-bit registers; called only at that width
//   DRAFTPROOF_AVX512      a function of 512-bit registers; called only at that width
//   DRAFTPROOF_AVX2_PART   a part of such a function, always inlined into it; takes and returns registers
//   DRAFTPROOF_INLINE      always inlined, for any target
//   DRAFTPROOF_WHOLE       inlines all calls in the function, and rounds a * b + c twice whatever the flags are
//
// A part must be inlined, because without the target's flags the calling convention has no wide registers. Lambdas do
// not inherit the attribute, so parts are functions and not lambdas. Loops that are the same at both widths are written
// once (each_width.hpp). Functions that only prefetch must be inlined too, because g++ removes calls of them.
#define DRAFTPROOF_INLINE [[gnu::always_inline]] inline

#if defined(__x86_64__) && !defined(__CUDACC__)
#define DRAFTPROOF_WIDE 1
// g++ 12 warns of the undefined operands that its own intrinsics use on purpose (GCC bug 105593).
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
#if !defined(__clang__)  // clang 14 cannot test for f16c; processors with AVX2 and FMA have it
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

/// Returns the widths up to widest().
inline std::span<const Width> widths_here() {
  return std::span(widths).first(static_cast<std::size_t>(widest()) + 1);
}

namespace detail {
inline Width checked(Width width) {
  if (width > widest())
    throw std::invalid_argument("no " + std::string(name_of(width)) + " here: this processor and build offer " +
                                std::string(name_of(widest())));
  return width;
}
inline Width requested() {
  const char* request = std::getenv("DRAFTPROOF_SIMD");
  if (request == nullptr || *request == '\0') return widest();
  for (const Width width : widths)
    if (request == name_of(width)) return checked(width);
  throw std::invalid_argument("DRAFTPROOF_SIMD: got " + std::string(request) + ", expected scalar, avx2 or avx512");
}
inline std::atomic<Width>& chosen() {
  static std::atomic<Width> width{requested()};
  return width;
}
}  // namespace detail

inline Width in_use() { return detail::chosen().load(std::memory_order_relaxed); }
inline void use(Width width) { detail::chosen().store(detail::checked(width), std::memory_order_relaxed); }

/// Sets a width for as long as the object lives.
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
