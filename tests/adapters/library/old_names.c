/* A library with the names of version 0.2: header, exported function, ABI macro and the member `law`. */
#include <draftproof/adapters/draftproof_door.h>

static int32_t verify(void* self, const dp_batch* batch, dp_result* result) {
  (void)self;
  for (int32_t row = 0; row < batch->rows; ++row) { /* emits the first draft, else token 0: not exact */
    result->tokens[(size_t)row * (size_t)result->stride] = batch->lengths[row] > 0 ? batch->drafts[row] : 0;
    result->counts[row] = 1;
    result->status[row] = DP_OK;
  }
  return DP_OK;
}

DRAFTPROOF_DOOR_EXPORT const dp_verifier* draftproof_door(uint32_t abi) {
  static const dp_verifier table = {
      .size = sizeof table, .abi = DRAFTPROOF_DOOR_ABI, .name = "old_names", .law = "iid", .level = DP_CHAIN,
      .verify = verify};
  return abi == DRAFTPROOF_DOOR_ABI ? &table : NULL;
}
