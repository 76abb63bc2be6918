// Code for wider registers than a build asks for: functions carry the instructions they use as an attribute, so that
// no compiler flag is needed and a program runs on every processor of its family.
//
//   DRAFTPROOF_WIDE        1 where such functions exist: x86-64 hosts, but not in CUDA sources
//   DRAFTPROOF_AVX2        a function of 256-bit registers; called only where width.hpp says so
//   DRAFTPROOF_AVX512      the same of 512-bit registers
//   DRAFTPROOF_AVX2_PART   a piece of such a function, always inlined into it; takes and returns registers
//   DRAFTPROOF_INLINE      always inlined, for any target
//   DRAFTPROOF_WHOLE       takes in all it calls, and multiplies and adds in two roundings whatever the build says
//
// A piece must be inlined: registers passed between functions have no agreed convention outside the target. Lambdas
// do not inherit the attribute, so pieces are member functions.
#pragma once

// Prefetches must be inlined too: g++ drops calls of functions that do nothing else.
#define DRAFTPROOF_INLINE [[gnu::always_inline]] inline

#if defined(__x86_64__) && !defined(__CUDACC__)
#define DRAFTPROOF_WIDE 1
// g++ 12 takes the deliberately undefined operands inside its own intrinsics for mistakes (GCC bug 105593).
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#pragma GCC diagnostic pop
#define DRAFTPROOF_AVX2 [[gnu::target("avx2,fma")]]
#define DRAFTPROOF_AVX2_PART [[gnu::target("avx2,fma"), gnu::always_inline]] inline
#define DRAFTPROOF_AVX512 [[gnu::target("avx2,fma,avx512f,avx512dq,avx512vl,avx512bw")]]
#define DRAFTPROOF_AVX512_PART \
  [[gnu::target("avx2,fma,avx512f,avx512dq,avx512vl,avx512bw"), gnu::always_inline]] inline
#ifdef __clang__
#define DRAFTPROOF_WHOLE [[gnu::flatten]]
#else
#define DRAFTPROOF_WHOLE [[gnu::flatten, gnu::optimize("fp-contract=off")]]
#endif
#else
#define DRAFTPROOF_WIDE 0
#endif
