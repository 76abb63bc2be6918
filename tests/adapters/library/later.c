/* The library of examples/adapter, which is wrong after DRAFTPROOF_RIGHT_ROWS rows, counted over all calls: it then
   emits token 0 only. */
#define draftproof_adapter adapter_of_example
#include "../../../examples/adapter/verifier.c"
#undef draftproof_adapter

static int32_t verify_later(void* self, const dp_batch* batch, dp_result* result) {
  static long long rows = 0;
  const long long right = atoll(getenv("DRAFTPROOF_RIGHT_ROWS"));
  const int32_t status = verify(self, batch, result);
  for (int32_t row = 0; row < batch->rows; ++row) {
    if (++rows <= right || batch->lengths[row] == 0) continue;
    result->tokens[(size_t)row * (size_t)result->stride] = 0;
    result->counts[row] = 1;
  }
  return status;
}

const dp_verifier* draftproof_adapter(uint32_t abi) {
  static dp_verifier later;
  later = *adapter_of_example(DRAFTPROOF_ADAPTER_ABI);
  later.verify = verify_later;
  return abi == DRAFTPROOF_ADAPTER_ABI ? &later : NULL;
}
