/* Selection policies behind the C interface; DRAFTPROOF_POLICY names one: keeps_all; row_maximum, which is correct: it
   reads the row before the draw; low_probability_stop, which is wrong: it reads the drawn token's entry; orphans,
   which keeps drafts without their parents; writes_outside; and changes_ARRAY, which keeps all drafts and writes to
   that input. */
#include <stdlib.h>
#include <string.h>

#include <draftproof/adapters/draftproof_adapter.h>

typedef enum { keeps_all, row_maximum, low_probability_stop, orphans, writes_outside, policies } policy;
static const char* const names[policies] = {"keeps_all", "row_maximum", "low_probability_stop", "orphans",
                                            "writes_outside"};

/* Writes to the first entry of the input array of that name. */
static void change(const char* array, const dp_selection* selection) {
  dp_drafted* const first = (dp_drafted*)selection->request;
  if (strcmp(array, "tokens") == 0) ((int32_t*)first->tokens)[0] += 1;
  if (strcmp(array, "parents") == 0) ((int32_t*)first->parents)[0] += 1;
  if (strcmp(array, "q") == 0) ((double*)first->q)[0] += 1;
  if (strcmp(array, "legal") == 0) ((int32_t*)first->legal)[0] ^= 1;
  if (strcmp(array, "confidence") == 0) ((double*)first->confidence)[0] += 1;
  if (strcmp(array, "past_confidence") == 0) ((double*)first->past_confidence)[0] += 1;
  if (strcmp(array, "cost") == 0) ((double*)selection->cost)[0] += 1;
  if (strcmp(array, "request") == 0) first->accepted += 1;
}

static int32_t keep(void* self, const dp_selection* selection, int32_t* kept) {
  const char* const wanted = getenv("DRAFTPROOF_POLICY");
  const int changes = strncmp(wanted, "changes_", 8) == 0;
  policy chosen = keeps_all;
  while (!changes && chosen < policies && strcmp(wanted, names[chosen]) != 0) ++chosen;
  (void)self;
  if (chosen == policies) return DP_UNSUPPORTED;
  const int32_t v = selection->vocabulary;
  for (int32_t r = 0; r < selection->requests; ++r) {
    const dp_drafted* request = &selection->request[r];
    for (int32_t i = 0; i < request->drafts; ++i) {
      const double* row = request->q + (size_t)i * (size_t)v;
      double greatest = 0;
      for (int32_t x = 0; x < v; ++x)
        if (row[x] > greatest) greatest = row[x];
      int32_t keeps = 1;
      if (chosen == row_maximum) keeps = greatest >= 0.5;
      if (chosen == low_probability_stop) keeps = row[request->tokens[i]] >= 0.4;
      if (chosen == orphans) keeps = request->parents[i] >= 0;
      else if (request->parents[i] >= 0 && !kept[request->parents[i]]) keeps = 0;
      kept[i] = keeps;
    }
    kept += request->drafts;
  }
  if (chosen == writes_outside) kept[0] = 1;
  if (changes) change(wanted + 8, selection);
  return DP_OK;
}

DRAFTPROOF_ADAPTER_EXPORT const dp_verifier* draftproof_adapter(uint32_t abi) {
  static const dp_verifier table = {.size = sizeof table,
                                    .abi = DRAFTPROOF_ADAPTER_ABI,
                                    .name = "policies",
                                    .level = DP_CHAIN,
                                    .select = keep,
                                    .select_trees = 1};
  return abi == DRAFTPROOF_ADAPTER_ABI ? &table : NULL;
}
