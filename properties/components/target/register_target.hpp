// How found sources of target rows and their checks enter the registry.
#pragma once

#include <draftproof/properties/components/component_group.hpp>
#include <draftproof/properties/components/component_registry.hpp>
#include <draftproof/properties/components/target/target_group.hpp>

namespace draftproof {

template <class C>
void register_target_component() {
  ComponentRegistry::instance().add(std::make_unique<ComponentOf<TargetGroup>>(target_source<C>(), Kind::verifier));
}
template <class C>
void register_target_mutant() {
  ComponentRegistry::instance().add(std::make_unique<ComponentOf<TargetGroup>>(target_source<C>(), Kind::mutant));
}
template <class C>
void register_target_check() {
  add_check<C, TargetGroup>();
}

}  // namespace draftproof
