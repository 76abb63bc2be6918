/* Token verification of chains behind the C adapter, on a CUDA device: the rows lie in the device's memory, one thread
   block decides one row, and its numbers come from the row's seed.
   Compile: nvcc -std=c++17 -O2 -shared -Xcompiler -fPIC -I DIRECTORY_OF_THE_HEADER verifier.cu -o verifier.so */
#include <cuda_runtime.h>

#include <cstdio>

#include <draftproof/adapters/draftproof_adapter.h>

namespace {

constexpr int threads = 128;

/* Returns number n of the sequence for a row's seed, a multiple of 2^-24 in [0, 1) (SplitMix64, Steele et al. 2014). */
__device__ double uniform(uint64_t seed, uint64_t n) {
  uint64_t z = seed + (n + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return (double)((z ^ (z >> 31)) >> 40) * 0x1p-24;
}

/* Returns (p - q)+ at x if `residual`, else p. Use p if all drafts were accepted, and if (p - q)+ is zero everywhere,
   which happens if p is nearly q and rounding has rejected a draft. */
__device__ double rest(const float* p, const float* q, bool residual, int x) {
  const double left = residual ? (double)p[x] - (double)q[x] : (double)p[x];
  return left > 0 ? left : 0;
}

/* Block `row` writes tokens, count and status of that row. Each thread sums a range of tokens. Thread 0
   finds the range of the draw, then the token in it. */
__global__ void decide(dp_batch b, const int32_t* drafts, const int32_t* lengths, const uint64_t* seeds,
                       int32_t* tokens, int stride, int32_t* counts, int32_t* status) {
  const size_t row = blockIdx.x, v = (size_t)b.vocabulary;
  const float* p = (const float*)b.p + row * (size_t)b.p_rows * v;
  const float* q = (const float*)b.q + row * (size_t)b.q_rows * v;
  __shared__ int accepted;
  __shared__ double sums[threads];
  if (threadIdx.x == 0) {
    int n = 0;
    for (; n < lengths[row]; ++n) {
      const int x = drafts[row * (size_t)b.longest + n];
      if (!(uniform(seeds[row], n) * q[n * v + x] < p[n * v + x])) break;
      tokens[row * stride + n] = x;
    }
    accepted = n;
  }
  __syncthreads();
  const int n = accepted, run = (b.vocabulary + threads - 1) / threads;
  p += n * v;
  q += n * v;
  bool above = false;
  for (int x = threadIdx.x; n < lengths[row] && x < b.vocabulary; x += threads) above |= p[x] > q[x];
  const bool residual = __syncthreads_or(above);
  const int from = min((int)threadIdx.x * run, b.vocabulary), to = min(from + run, b.vocabulary);
  double sum = 0;
  for (int x = from; x < to; ++x) sum += rest(p, q, residual, x);
  sums[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  double total = 0;
  for (int i = 0; i < threads; ++i) total += sums[i];
  const double at = uniform(seeds[row], n + 1) * total;
  double below = 0;
  int chosen = 0;
  while (chosen + 1 < threads && below + sums[chosen] <= at) below += sums[chosen++];
  int drawn = -1;
  for (int x = chosen * run; x < b.vocabulary && (drawn < 0 || below <= at); ++x) {
    const double weight = rest(p, q, residual, x);
    if (weight > 0) below += weight, drawn = x;
  }
  tokens[row * stride + n] = drawn;
  counts[row] = n + 1;
  status[row] = drawn < 0 ? DP_NO_MASS : DP_OK;
}

/* An array in the device's memory, freed with its scope. */
template <class T>
struct on_device {
  T* data = nullptr;
  explicit on_device(size_t count) { cudaMalloc(&data, count * sizeof(T)); }
  on_device(const T* from, size_t count) : on_device(count) {
    cudaMemcpy(data, from, count * sizeof(T), cudaMemcpyHostToDevice);
  }
  ~on_device() { cudaFree(data); }
  void read(T* to, size_t count) const { cudaMemcpy(to, data, count * sizeof(T), cudaMemcpyDeviceToHost); }
};

int32_t verify(void*, const dp_batch* batch, dp_result* result) {
  if (batch->seeds == nullptr || batch->rows == 0) return batch->rows == 0 ? DP_OK : DP_UNSUPPORTED;
  const size_t rows = (size_t)batch->rows, entries = rows * (size_t)result->stride;
  const on_device<int32_t> drafts(batch->drafts, rows * (size_t)batch->longest), lengths(batch->lengths, rows);
  const on_device<uint64_t> seeds(batch->seeds, rows);
  const on_device<int32_t> tokens(entries), counts(rows), status(rows);
  decide<<<batch->rows, threads>>>(*batch, drafts.data, lengths.data, seeds.data, tokens.data, result->stride,
                                   counts.data, status.data);
  tokens.read(result->tokens, entries);
  counts.read(result->counts, rows);
  status.read(result->status, rows);
  const cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess) return DP_OK;
  snprintf(result->message, result->message_size, "%s", cudaGetErrorString(error));
  return DP_FAILED;
}

int32_t upload(void*, const void* from, size_t bytes, void** to) {
  if (cudaMalloc(to, bytes) != cudaSuccess) return DP_FAILED;
  return cudaMemcpy(*to, from, bytes, cudaMemcpyHostToDevice) == cudaSuccess ? DP_OK : DP_FAILED;
}

void release(void*, void* uploaded) { cudaFree(uploaded); }

void* create(const char*, char* error, size_t error_size) {
  static int instance;
  int devices = 0;
  if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0) return &instance;
  snprintf(error, error_size, "no CUDA device");
  return nullptr;
}

}  // namespace

extern "C" const dp_verifier* draftproof_adapter(uint32_t abi) {
  static dp_verifier adapter{};
  adapter.size = sizeof adapter;
  adapter.abi = DRAFTPROOF_ADAPTER_ABI;
  adapter.name = "token_path_cuda";
  adapter.version = "1";
  adapter.level = DP_CHAIN;
  adapter.randomness = DP_BIT(DP_SEEDED);
  adapter.devices = DP_BIT(DP_CUDA);
  adapter.create = create;
  adapter.verify = verify;
  adapter.upload = upload;
  adapter.release = release;
  return abi == DRAFTPROOF_ADAPTER_ABI ? &adapter : nullptr;
}
