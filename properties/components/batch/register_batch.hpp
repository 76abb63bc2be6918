// How found batch runners and their checks enter the registry.
#pragma once

#include <draftproof/properties/components/batch/batch_group.hpp>
#include <draftproof/properties/components/component_group.hpp>
#include <draftproof/properties/components/component_registry.hpp>

namespace draftproof {

template <class C>
void register_batch_component() {
  ComponentRegistry::instance().add(std::make_unique<ComponentOf<BatchGroup>>(batch_runner<C>(), Kind::verifier));
}
template <class C>
void register_batch_mutant() {
  ComponentRegistry::instance().add(std::make_unique<ComponentOf<BatchGroup>>(batch_runner<C>(), Kind::mutant));
}
template <class C>
void register_batch_check() {
  add_check<C, BatchGroup>();
}

}  // namespace draftproof
