// How a found verifier or mutant enters the registry, and its walk the registry of paths.
#pragma once

#include <draftproof/properties/prover/register_path_verifier.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/subjects/erased.hpp>
#include <draftproof/sim/trees/node_by_node.hpp>

namespace draftproof {

template <class V>
void register_found(Kind kind) {
  Registry::instance().add(std::make_unique<VerifierOf<V>>(kind));
  if constexpr (node_liftable<V>) PathRegistry::instance().add(std::make_unique<PathVerifierOf<LiftedToTrees<V>>>(kind));
}

template <class V>
void register_verifier() {
  register_found<V>(Kind::verifier);
}
template <class V>
void register_lossy() {
  register_found<V>(Kind::lossy);
}
template <class V>
void register_mutant() {
  register_found<V>(Kind::mutant);
}

}  // namespace draftproof
