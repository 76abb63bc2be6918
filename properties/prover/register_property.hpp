// Adds a property to the registry.
#pragma once

#include <draftproof/properties/prover/registry.hpp>

namespace draftproof {

template <class P>
void register_property() {
  Registry::instance().add(property_of<P, TokenLevel>());
}

// Adds a property of paths to the registry of paths.

template <class P>
void register_path_property() {
  PathRegistry::instance().add(property_of<P, BlockLevel>());
}

// Adds a property of both levels to both registries.

template <template <class Level> class P>
void register_property() {
  register_property<P<TokenLevel>>();
  register_path_property<P<BlockLevel>>();
}

// Adds a family of instances to the registry.

template <class G>
void register_generator() {
  bool keeps_supports = false;
  if constexpr (requires { G::keeps_supports; }) keeps_supports = G::keeps_supports;
  Registry::instance().add(Generator{
      G::name, G::about, [](InstanceRng& dice, int vocabulary) { return G{}(dice, vocabulary); }, keeps_supports});
}

}  // namespace draftproof
