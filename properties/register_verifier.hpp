// How a found verifier or mutant enters the registry, and its walk the registry of paths.
#pragma once

#include <draftproof/properties/erased.hpp>
#include <draftproof/properties/paths/register_path_verifier.hpp>
#include <draftproof/properties/registry.hpp>
#include <draftproof/sim/walk_info.hpp>

namespace draftproof {

template <class V>
void register_found(Kind kind) {
  Registry::instance().add(std::make_unique<VerifierOf<V>>(kind));
  if constexpr (walkable<V>) PathRegistry::instance().add(std::make_unique<PathVerifierOf<WalkOf<V>>>(kind));
}

template <class V>
void register_verifier() {
  register_found<V>(Kind::verifier);
}
template <class V>
void register_mutant() {
  register_found<V>(Kind::mutant);
}

}  // namespace draftproof
