// A C interface to SGLang's kernels of tree verification, which it launches as SGLang's launcher does.
#include <cuda_runtime.h>

#include <cstdint>
#include <numeric>

#include <sgl_kernel/speculative/eagle.cuh>
#include <sgl_kernel/speculative/sampling.cuh>

namespace {

constexpr std::uint32_t block_threads = 1024;

struct Tree {
  std::int32_t* predicts;
  std::int32_t* accept_index;
  std::int32_t* accept_count;
  std::int64_t* candidates;
  std::int64_t* index;
  std::int64_t* next_token;
  std::int64_t* next_sibling;
  std::uint32_t batch;
  std::uint32_t steps;
  std::uint32_t slots;
};

template <std::uint32_t VecSize>
cudaError_t sample(Tree t, float* coins, float* last, float* target, float* draft, std::uint32_t vocabulary,
                   float single, float together, cudaStream_t stream) {
  using namespace flashinfer::sampling;
  constexpr std::size_t shared = sizeof(SamplingTempStorage<block_threads, SCAN_ALGO, REDUCE_ALGO>);
  auto* kernel =
      sglang::speculative_sampling::TreeSpeculativeSamplingTargetOnly<block_threads, SCAN_ALGO, REDUCE_ALGO, VecSize,
                                                                      true, float, std::int32_t, std::int64_t>;
  const auto status =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared));
  if (status != cudaSuccess) {
    return status;
  }
  kernel<<<t.batch, block_threads, shared, stream>>>(t.predicts, t.accept_index, t.accept_count, t.candidates,
                                                     t.index, t.next_token, t.next_sibling, coins, last, target,
                                                     draft, t.batch, t.steps, t.slots, vocabulary, single, together);
  return cudaGetLastError();
}

}  // namespace

// Returns a cudaError_t. target and draft [batch, slots, vocabulary]; the kernel writes to draft.
extern "C" int sglang_tree_sample(std::int32_t* predicts, std::int32_t* accept_index, std::int32_t* accept_count,
                                  std::int64_t* candidates, std::int64_t* index, std::int64_t* next_token,
                                  std::int64_t* next_sibling, float* coins, float* last, float* target, float* draft,
                                  int batch, int steps, int slots, int vocabulary, float single, float together,
                                  void* stream) {
  const Tree t{predicts,
               accept_index,
               accept_count,
               candidates,
               index,
               next_token,
               next_sibling,
               static_cast<std::uint32_t>(batch),
               static_cast<std::uint32_t>(steps),
               static_cast<std::uint32_t>(slots)};
  const auto size = static_cast<std::uint32_t>(vocabulary);
  auto* on = static_cast<cudaStream_t>(stream);
  together = together > 1e-9F ? together : 1e-9F;
  switch (std::gcd(4, vocabulary)) {
    case 4:
      return sample<4>(t, coins, last, target, draft, size, single, together, on);
    case 2:
      return sample<2>(t, coins, last, target, draft, size, single, together, on);
    default:
      return sample<1>(t, coins, last, target, draft, size, single, together, on);
  }
}

// Returns a cudaError_t. chosen [batch, slots]: the target's token after each node.
extern "C" int sglang_tree_greedy(std::int32_t* predicts, std::int32_t* accept_index, std::int32_t* accept_count,
                                  std::int64_t* candidates, std::int64_t* index, std::int64_t* next_token,
                                  std::int64_t* next_sibling, std::int64_t* chosen, int batch, int steps, int slots,
                                  void* stream) {
  sglang::speculative::VerifyTreeGreedy<std::int32_t, std::int64_t>
      <<<static_cast<std::uint32_t>(batch), 1, 0, static_cast<cudaStream_t>(stream)>>>(
          predicts, accept_index, accept_count, candidates, index, next_token, next_sibling, chosen,
          static_cast<std::uint32_t>(batch), static_cast<std::uint32_t>(steps), static_cast<std::uint32_t>(slots));
  return cudaGetLastError();
}
