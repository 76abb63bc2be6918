// How a found verifier, mutant or drafter of paths enters the registry.
#pragma once

#include <draftproof/properties/prover/path_registry.hpp>
#include <draftproof/properties/subjects/path_erased.hpp>

namespace draftproof {

template <class V>
void register_path_verifier() {
  PathRegistry::instance().add(std::make_unique<PathVerifierOf<V>>(Kind::verifier));
}
template <class V>
void register_path_lossy() {
  PathRegistry::instance().add(std::make_unique<PathVerifierOf<V>>(Kind::lossy));
}
template <class V>
void register_path_mutant() {
  PathRegistry::instance().add(std::make_unique<PathVerifierOf<V>>(Kind::mutant));
}
template <class D>
void register_tree_drafter() {
  PathRegistry::instance().add(std::make_unique<TreeDrafterOf<D>>());
}

}  // namespace draftproof
