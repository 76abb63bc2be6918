// A C interface to FlashInfer's kernel of chain verification, whose launcher and kernel run as released. If the file is
// compiled with DRAFTPROOF_COINS, the calls of cuRAND are replaced by functions that return the numbers of an array:
// the generator's state then has the address of the row's numbers and the index of the next number.
#include <curand.h>
#include <curand_kernel.h>
#include <curand_philox4x32_x.h>

#include <cstdint>

#ifdef DRAFTPROOF_COINS

// Replaces curand_init: prepares `state` for the coins of a row. The seed is the address of the array of coins, and the
// offset is the number of coins in a row.
__device__ inline void draftproof_begin(std::uint64_t coins, std::uint32_t row, std::uint64_t per_row,
                                        curandStatePhilox4_32_10_t* state) {
  const auto place = coins + (row * per_row * sizeof(float));
  state->ctr = make_uint4(static_cast<unsigned>(place >> 32U), static_cast<unsigned>(place), 0, 0);
}

// Returns the next coin of the row.
__device__ inline float draftproof_next(curandStatePhilox4_32_10_t* state) {
  const auto place = (static_cast<std::uint64_t>(state->ctr.x) << 32U) + state->ctr.y;
  return reinterpret_cast<const float*>(place)[state->ctr.z++];
}

#define curand_init draftproof_begin
#define curand_uniform draftproof_next
#endif

#include <flashinfer/sampling.cuh>

// Returns a cudaError_t. draft [batch, length, vocabulary]; target and tokens have length + 1 in place of length. The
// kernel adds to the counts `accepted` and `emitted` [batch].
extern "C" int flashinfer_chain(float* draft, int* drafts, float* target, int* tokens, int* accepted, int* emitted,
                                int batch, int length, int vocabulary, std::uint64_t seed, std::uint64_t offset,
                                void* stream) {
  return flashinfer::sampling::ChainSpeculativeSampling<float, int>(
      draft, drafts, target, tokens, accepted, emitted, static_cast<std::uint32_t>(batch),
      static_cast<std::uint32_t>(length), static_cast<std::uint32_t>(vocabulary), true, nullptr, seed, nullptr,
      offset, static_cast<cudaStream_t>(stream));
}
