// How a found property of paths enters the registry.
#pragma once

#include <draftproof/properties/prover/path_registry.hpp>

namespace draftproof {

template <class P>
void register_path_property() {
  PathRegistry::instance().add(property_of<P, BlockLevel>());
}

}  // namespace draftproof
