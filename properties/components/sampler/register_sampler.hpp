// How found samplers and their checks enter the registry.
#pragma once

#include <draftproof/properties/components/component_group.hpp>
#include <draftproof/properties/components/component_registry.hpp>
#include <draftproof/properties/components/sampler/sampler_group.hpp>

namespace draftproof {

template <class C>
void register_sampler_component() {
  ComponentRegistry::instance().add(std::make_unique<ComponentOf<SamplerGroup>>(sampler<C>(), Kind::verifier));
}
template <class C>
void register_sampler_mutant() {
  ComponentRegistry::instance().add(std::make_unique<ComponentOf<SamplerGroup>>(sampler<C>(), Kind::mutant));
}
template <class C>
void register_sampler_check() {
  add_check<C, SamplerGroup>();
}

}  // namespace draftproof
