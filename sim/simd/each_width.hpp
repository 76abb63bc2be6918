// Includes the file DRAFTPROOF_BODY twice, in the namespaces draftproof::simd::avx2 and ::avx512, so that its
// functions are written once. A function's instruction set is an attribute, which a template parameter cannot choose,
// and compilers do not inline a part into a function without that instruction set.
//
//   DRAFTPROOF_LOOP   a function of registers: DRAFTPROOF_AVX2 or DRAFTPROOF_AVX512
//   DRAFTPROOF_PART   a part of such a function, always inlined
//
// This file and bodies have no include guard. Bodies include nothing and open no namespace.
#include <draftproof/sim/simd/dispatch.hpp>

#if DRAFTPROOF_WIDE
#define DRAFTPROOF_LOOP DRAFTPROOF_AVX2
#define DRAFTPROOF_PART DRAFTPROOF_AVX2_PART
namespace draftproof::simd::avx2 {
#include DRAFTPROOF_BODY
}
#undef DRAFTPROOF_LOOP
#undef DRAFTPROOF_PART
#define DRAFTPROOF_LOOP DRAFTPROOF_AVX512
#define DRAFTPROOF_PART DRAFTPROOF_AVX512_PART
namespace draftproof::simd::avx512 {
#include DRAFTPROOF_BODY
}
#undef DRAFTPROOF_LOOP
#undef DRAFTPROOF_PART
#endif
#undef DRAFTPROOF_BODY
