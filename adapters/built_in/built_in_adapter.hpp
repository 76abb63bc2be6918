// Serves the registered verifiers through the C interface, in this process, to test the interface with every scheme.
#pragma once

#include <cstdint>

#include <draftproof/adapters/draftproof_adapter.h>

namespace draftproof::adapters {

/// Returns the function table that libraries export as draftproof_adapter, here for the built-in verifiers; null for
/// another ABI. The option "verifier" of `create` names the verifier; "coin_bits", "seed", "drafter" and "level" set
/// the members of BuiltInOptions of these names.
const dp_verifier* built_in_adapter(std::uint32_t abi);

}  // namespace draftproof::adapters
