// How a found property enters the registry.
#pragma once

#include <draftproof/properties/prover/path_registry.hpp>
#include <draftproof/properties/prover/registry.hpp>

namespace draftproof {

template <class P>
void register_property() {
  Registry::instance().add(property_of<P, TokenLevel>());
}

// How a found property of paths enters the registry.

template <class P>
void register_path_property() {
  PathRegistry::instance().add(property_of<P, BlockLevel>());
}

// How a found property of both levels enters the registries.

template <template <class Level> class P>
void register_property() {
  register_property<P<TokenLevel>>();
  register_path_property<P<BlockLevel>>();
}

// How a found family of instances enters the registry.

template <class G>
void register_generator() {
  Registry::instance().add(
      Generator{G::name, G::about, [](InstanceRng& dice, int vocabulary) { return G{}(dice, vocabulary); }});
}

}  // namespace draftproof
