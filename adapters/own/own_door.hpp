// The registered verifiers behind the C interface, in this process: the test of the interface with every scheme.
#pragma once

#include <cstdint>

#include <draftproof/adapters/draftproof_door.h>

namespace draftproof::adapters {

/// What a library exports as draftproof_door. The option "verifier" of its `create` names the verifier; "coin_bits",
/// "seed", "drafter" and "level" are those of OwnOptions. Null for another ABI.
const dp_verifier* own_door(std::uint32_t abi);

}  // namespace draftproof::adapters
