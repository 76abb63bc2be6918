/* Token verification of a chain under a grammar, right or wrong by DRAFTPROOF_MASK: right; bonus_without_mask;
   bonus_mask_before; mask_of_start; drafts_removed, which drops forbidden drafts though q has no mask. */
#include <stdlib.h>
#include <string.h>

#include <draftproof/adapters/draftproof_adapter.h>

typedef enum { right, bonus_without_mask, bonus_mask_before, mask_of_start, drafts_removed, masks } mask;
static const char* const names[masks] = {"right", "bonus_without_mask", "bonus_mask_before", "mask_of_start",
                                         "drafts_removed"};
enum { most_tokens = 64 };

/* Writes row i of p with the mask of row `by` to `row`, not normalised; if by < 0, without a mask. Returns the sum. */
static double masked(const float* p, const int32_t* legal, int32_t v, int32_t i, int32_t by, double* row) {
  double total = 0;
  for (int32_t x = 0; x < v; ++x) {
    row[x] = by < 0 || legal[by * v + x] ? p[i * v + x] : 0;
    total += row[x];
  }
  return total;
}

static int32_t verify(void* self, const dp_batch* batch, dp_result* result) {
  const char* const asked = getenv("DRAFTPROOF_MASK");
  mask chosen = right;
  while (chosen < masks && strcmp(asked, names[chosen]) != 0) ++chosen;
  (void)self;
  const int32_t v = batch->vocabulary, longest = batch->longest;
  if (chosen == masks || v > most_tokens || !batch->legal) return DP_UNSUPPORTED;
  for (int32_t b = 0; b < batch->rows; ++b) {
    const float *p = (const float*)batch->p + b * batch->p_rows * v,
                *q = (const float*)batch->q + b * batch->q_rows * v;
    const int32_t* legal = batch->legal + b * batch->p_rows * v;
    const int32_t n = batch->lengths[b];
    double row[most_tokens];
    int32_t i = 0, draws_from_p = 1;
    for (; i < n; ++i) {
      const int32_t draft = batch->drafts[b * longest + i];
      const double total = masked(p, legal, v, i, chosen == mask_of_start ? 0 : i, row);
      if (chosen == drafts_removed && !legal[i * v + draft]) break;
      if (batch->tape->uniform(batch->tape->self, b, 24, "accept") * q[i * v + draft] * total < row[draft]) {
        result->tokens[b * result->stride + i] = draft;
        continue;
      }
      double left[most_tokens], mass = 0;
      for (int32_t x = 0; x < v; ++x)
        mass += left[x] = row[x] > q[i * v + x] * total ? row[x] - q[i * v + x] * total : 0;
      if (mass > 0) memcpy(row, left, sizeof row);
      draws_from_p = 0;
      break;
    }
    if (draws_from_p && i == n)
      masked(p, legal, v, n,
             chosen == bonus_without_mask                                         ? -1
             : chosen == mask_of_start || (chosen == bonus_mask_before && n == 0) ? 0
             : chosen == bonus_mask_before                                        ? n - 1
                                                                                  : n,
             row);
    const int32_t token = batch->tape->pick(batch->tape->self, b, row, v, draws_from_p ? "bonus" : "residual");
    result->tokens[b * result->stride + i] = token;
    result->counts[b] = i + 1;
    result->status[b] = token < 0 ? DP_NO_MASS : DP_OK;
  }
  return DP_OK;
}

DRAFTPROOF_ADAPTER_EXPORT const dp_verifier* draftproof_adapter(uint32_t abi) {
  static const dp_verifier table = {.size = sizeof table,
                                    .abi = DRAFTPROOF_ADAPTER_ABI,
                                    .name = "masked",
                                    .level = DP_CHAIN,
                                    .randomness = DP_BIT(DP_SCRIPTED),
                                    .verify = verify,
                                    .grammar = 1};
  return abi == DRAFTPROOF_ADAPTER_ABI ? &table : NULL;
}
