/* Verifies K drafts of one token in turn: each is accepted with probability min(1, r / q), where r is p at first, and
   after a rejection (r - q)+ over its sum. If all are rejected, the token is drawn from the last r. With
   RESIDUAL_IS_TARGET, r stays p: a bug. */
#include <draftproof/adapters/draftproof_adapter.h>
#include <stdlib.h>

static double next_uniform(const dp_batch* batch, int32_t row, uint64_t* state, const char* stream) {
  if (batch->tape) return batch->tape->uniform(batch->tape->self, row, 24, stream);
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  uint64_t word = *state ^ (*state >> 33);
  word *= 0xFF51AFD7ED558CCDu;
  return (double)(word >> 40) * 0x1p-24;
}

static int32_t token_of(const dp_batch* batch, int32_t row, uint64_t* state, const double* r) {
  if (batch->tape) return batch->tape->pick(batch->tape->self, row, r, batch->vocabulary, "residual");
  double total = 0;
  for (int32_t x = 0; x < batch->vocabulary; ++x) total += r[x];
  const double at = next_uniform(batch, row, state, "residual") * total;
  int32_t drawn = -1;
  double sum = 0;
  for (int32_t x = 0; x < batch->vocabulary && (drawn < 0 || sum <= at); ++x)
    if (r[x] > 0) sum += r[x], drawn = x;
  return drawn;
}

static int32_t verify(void* self, const dp_batch* batch, dp_result* result) {
  (void)self;
  const size_t v = (size_t)batch->vocabulary;
  double* r = malloc(v * sizeof *r);
  if (!r) return DP_FAILED;
  for (int32_t row = 0; row < batch->rows; ++row) {
    const float* p = (const float*)batch->p + (size_t)row * v;
    const float* q = (const float*)batch->q + (size_t)row * (size_t)batch->q_rows * v;
    const int32_t* drafts = batch->drafts + (size_t)row * (size_t)batch->longest;
    uint64_t state = batch->seeds ? batch->seeds[row] * 0x9E3779B97F4A7C15u + 1 : 0;
    int32_t token = -1;
    for (size_t x = 0; x < v; ++x) r[x] = p[x];
    for (int32_t k = 0; k < batch->lengths[row] && token < 0; ++k) {
      if (next_uniform(batch, row, &state, "accept") * q[drafts[k]] < r[drafts[k]]) token = drafts[k];
#ifndef RESIDUAL_IS_TARGET
      double mass = 0;
      for (size_t x = 0; x < v; ++x) mass += r[x] > q[x] ? r[x] - q[x] : 0;
      if (!(mass > 0)) continue; /* p = q, up to rounding */
      for (size_t x = 0; x < v; ++x) r[x] = r[x] > q[x] ? (r[x] - q[x]) / mass : 0;
#endif
    }
    if (token < 0) token = token_of(batch, row, &state, r);
    result->tokens[(size_t)row * (size_t)result->stride] = token;
    result->counts[row] = 1;
    result->status[row] = token < 0 ? DP_NO_MASS : DP_OK;
  }
  free(r);
  return DP_OK;
}

static const dp_verifier adapter = {.size = sizeof adapter,
                                 .abi = DRAFTPROOF_ADAPTER_ABI,
                                 .name = "recursive_rejection",
                                 .level = DP_POSITION,
                                 .randomness = DP_BIT(DP_SCRIPTED) | DP_BIT(DP_SEEDED),
                                 .verify = verify};

const dp_verifier* draftproof_adapter(uint32_t abi) { return abi == DRAFTPROOF_ADAPTER_ABI ? &adapter : NULL; }
