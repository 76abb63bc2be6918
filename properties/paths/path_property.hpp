// A law every verifier of paths is held to, one per file in properties/paths/laws/: the same shape as a property of
// one position (properties/property.hpp).
#pragma once

#include <draftproof/properties/paths/path_examination.hpp>
#include <draftproof/properties/property.hpp>

namespace draftproof {

using PathProperty = PropertyOf<PathLevel>;

}  // namespace draftproof
