/* Token verification of a chain that applies temperature, top-k, top-p and min-p to p, right or wrong by
   DRAFTPROOF_SETTINGS: right; first_request, which uses the settings of row 0 of the batch; bonus_without_settings;
   no_min_p; temperature_twice. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <draftproof/adapters/draftproof_adapter.h>

typedef enum { right, first_request, bonus_without_settings, no_min_p, temperature_twice, rules } rule;
static const char* const names[rules] = {"right", "first_request", "bonus_without_settings", "no_min_p",
                                         "temperature_twice"};
enum { most_tokens = 64, temperature = 0, top_k = 1, top_p = 2, min_p = 3 };

/* Whether token a is before b in descending order of entries; equal entries are in the order of their indices. */
static int before(const double* row, int32_t a, int32_t b) { return row[a] > row[b] || (row[a] == row[b] && a < b); }

/* Writes the target of a row of p to `row`, not normalised; returns its sum. */
static double target(const float* p, int32_t v, const double* settings, rule chosen, double* row) {
  double total = 0, most = 0;
  for (int32_t x = 0; x < v; ++x) {
    const double once = pow((double)p[x], 1 / settings[temperature]);
    total += row[x] = chosen == temperature_twice ? pow(once, 1 / settings[temperature]) : once;
  }
  double kept[most_tokens], left = 0;
  for (int32_t x = 0; x < v; ++x) {
    int32_t rank = 0;
    double above = 0;
    for (int32_t y = 0; y < v; ++y)
      if (y != x && before(row, y, x)) {
        ++rank;
        above += row[y];
      }
    const int in_k = settings[top_k] == 0 || rank < settings[top_k], in_p = above < settings[top_p] * total;
    kept[x] = in_k && in_p ? row[x] : 0;
    if (kept[x] > most) most = kept[x];
  }
  for (int32_t x = 0; x < v; ++x) {
    row[x] = chosen == no_min_p || kept[x] >= settings[min_p] * most ? kept[x] : 0;
    left += row[x];
  }
  return left;
}

static int32_t verify(void* self, const dp_batch* batch, dp_result* result) {
  const double none[4] = {1, 0, 1, 0};
  const char* const asked = getenv("DRAFTPROOF_SETTINGS");
  rule chosen = right;
  while (chosen < rules && strcmp(asked, names[chosen]) != 0) ++chosen;
  (void)self;
  const int32_t v = batch->vocabulary, longest = batch->longest;
  if (chosen == rules || v > most_tokens || !batch->settings) return DP_UNSUPPORTED;
  for (int32_t b = 0; b < batch->rows; ++b) {
    const float *p = (const float*)batch->p + b * batch->p_rows * v,
                *q = (const float*)batch->q + b * batch->q_rows * v;
    const double* settings = batch->settings + (chosen == first_request ? 0 : 4 * b);
    const int32_t n = batch->lengths[b];
    double row[most_tokens];
    int32_t i = 0, rejected = 0;
    for (; i < n && !rejected; ++i) {
      const int32_t draft = batch->drafts[b * longest + i];
      const double total = target(p + i * v, v, settings, chosen, row);
      if (batch->tape->uniform(batch->tape->self, b, 24, "accept") * q[i * v + draft] * total < row[draft]) {
        result->tokens[b * result->stride + i] = draft;
        continue;
      }
      double left[most_tokens], mass = 0;
      for (int32_t x = 0; x < v; ++x)
        mass += left[x] = row[x] > q[i * v + x] * total ? row[x] - q[i * v + x] * total : 0;
      if (mass > 0) memcpy(row, left, sizeof row);
      rejected = 1;
      --i;
    }
    if (!rejected) target(p + n * v, v, chosen == bonus_without_settings ? none : settings, chosen, row);
    const int32_t token = batch->tape->pick(batch->tape->self, b, row, v, rejected ? "residual" : "bonus");
    result->tokens[b * result->stride + i] = token;
    result->counts[b] = i + 1;
    result->status[b] = token < 0 ? DP_NO_MASS : DP_OK;
  }
  return DP_OK;
}

DRAFTPROOF_ADAPTER_EXPORT const dp_verifier* draftproof_adapter(uint32_t abi) {
  static const dp_verifier table = {
      .size = sizeof table,
      .abi = DRAFTPROOF_ADAPTER_ABI,
      .name = "request_settings",
      .level = DP_CHAIN,
      .randomness = DP_BIT(DP_SCRIPTED),
      .verify = verify,
      .settings = DP_BIT(DP_TEMPERATURE) | DP_BIT(DP_TOP_K) | DP_BIT(DP_TOP_P) | DP_BIT(DP_MIN_P)};
  return abi == DRAFTPROOF_ADAPTER_ABI ? &table : NULL;
}
