// How a found property enters the registry.
#pragma once

#include <draftproof/properties/prover/registry.hpp>

namespace draftproof {

template <class P>
void register_property() {
  Registry::instance().add(property_of<P, TokenLevel>());
}

}  // namespace draftproof
