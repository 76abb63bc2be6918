// Includes the file DRAFTPROOF_BODY twice, in the namespaces avx2 and avx512: its functions are written once and
// compiled for either width. A function's instruction set is an attribute that neither a template parameter nor a
// trait can choose, so that only the preprocessor can say the same text twice.
//
//   DRAFTPROOF_LOOP   a function of registers, DRAFTPROOF_AVX2 or DRAFTPROOF_AVX512
//   DRAFTPROOF_PART   a piece of one, always inlined into it
//
// No include guard, here and in bodies: every inclusion counts.
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
