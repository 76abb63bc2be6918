/* Token verification of a chain behind the C adapter, in double on float rows: each draft is accepted with probability
   min(1, p / q), the first rejected draft is replaced by a draw from (p - q)+, or from p if rounding made (p - q)+
   zero everywhere. If all drafts are accepted, a draw from p follows.
   Compile: cc -std=c11 -O2 -shared -fPIC -I DIRECTORY_OF_THE_HEADER verifier.c -o verifier.so */
#include <draftproof/adapters/draftproof_adapter.h>
#include <stdlib.h>

/* The random numbers of one row: from the host's tape, or from a generator started with the row's seed. */
typedef struct {
  const dp_tape* tape;
  int32_t row;
  uint64_t state;
} numbers;

/* Returns the next multiple of 2^-24 in [0, 1), from the tape or by SplitMix64 (Steele et al. 2014). */
static double uniform(numbers* from, const char* stream) {
  if (from->tape) return from->tape->uniform(from->tape->self, from->row, 24, stream);
  uint64_t z = from->state += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return (double)((z ^ (z >> 31)) >> 40) * 0x1p-24;
}

/* Draws a cell with probability in proportion to its weight; returns -1 if all weights are 0. */
static int32_t categorical(numbers* from, const double* weights, int32_t n, const char* stream) {
  if (from->tape) return from->tape->pick(from->tape->self, from->row, weights, n, stream);
  double total = 0, sum = 0;
  int32_t drawn = -1;
  for (int32_t x = 0; x < n; ++x) total += weights[x];
  const double at = uniform(from, stream) * total;
  for (int32_t x = 0; x < n && (drawn < 0 || sum <= at); ++x)
    if (weights[x] > 0) sum += weights[x], drawn = x;
  return drawn;
}

static int32_t verify(void* self, const dp_batch* batch, dp_result* result) {
  (void)self;
  const size_t v = (size_t)batch->vocabulary, longest = (size_t)batch->longest;
  double* weights = malloc(v * sizeof *weights);
  if (!weights) return DP_FAILED;
  for (int32_t row = 0; row < batch->rows; ++row) {
    const size_t i = (size_t)row;
    const float* p = (const float*)batch->p + i * (size_t)batch->p_rows * v;
    const float* q = (const float*)batch->q + i * (size_t)batch->q_rows * v;
    int32_t* tokens = result->tokens + i * (size_t)result->stride;
    numbers from = {batch->tape, row, batch->seeds ? batch->seeds[row] : 0};
    int32_t n = 0;
    for (; n < batch->lengths[row]; ++n, p += v, q += v) {
      const int32_t draft = batch->drafts[i * longest + (size_t)n];
      if (!(uniform(&from, "accept") * q[draft] < p[draft])) break;
      tokens[n] = draft;
    }
    const int rejected = n < batch->lengths[row];
    int left = 0; /* if p is nearly q, rounding can reject a draft although (p - q)+ is zero */
    for (size_t x = 0; rejected && x < v; ++x) left |= p[x] > q[x];
    for (size_t x = 0; x < v; ++x) weights[x] = !left ? p[x] : p[x] > q[x] ? (double)p[x] - (double)q[x] : 0;
    tokens[n] = categorical(&from, weights, batch->vocabulary, rejected ? "residual" : "bonus");
    result->counts[row] = n + 1;
    result->status[row] = tokens[n] < 0 ? DP_NO_MASS : DP_OK;
  }
  free(weights);
  return DP_OK;
}

static const dp_verifier adapter = {.size = sizeof adapter,
                                 .abi = DRAFTPROOF_ADAPTER_ABI,
                                 .name = "token_path",
                                 .version = "1",
                                 .level = DP_CHAIN,
                                 .randomness = DP_BIT(DP_SCRIPTED) | DP_BIT(DP_SEEDED),
                                 .verify = verify};

const dp_verifier* draftproof_adapter(uint32_t abi) { return abi == DRAFTPROOF_ADAPTER_ABI ? &adapter : NULL; }
