// How a found family of instances enters the registry.
#pragma once

#include <draftproof/properties/prover/registry.hpp>

namespace draftproof {

template <class G>
void register_generator() {
  Registry::instance().add(
      Generator{G::name, G::about, [](InstanceRng& dice, int vocabulary) { return G{}(dice, vocabulary); }});
}

}  // namespace draftproof
