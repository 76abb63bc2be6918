// How a found verifier or mutant enters the registry.
#pragma once

#include <draftproof/properties/erased.hpp>
#include <draftproof/properties/registry.hpp>

namespace draftproof {

template <class V>
void register_verifier() {
  Registry::instance().add(std::make_unique<VerifierOf<V>>(Kind::verifier));
}
template <class V>
void register_mutant() {
  Registry::instance().add(std::make_unique<VerifierOf<V>>(Kind::mutant));
}

}  // namespace draftproof
