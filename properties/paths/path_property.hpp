// A law every verifier of paths is held to, one per file in properties/paths/laws/: the same shape as a property of
// one position (properties/proof/property.hpp).
#pragma once

#include <draftproof/properties/paths/path_analysis.hpp>
#include <draftproof/properties/proof/property.hpp>

namespace draftproof {

using PathProperty = PropertyOf<BlockLevel>;

}  // namespace draftproof
