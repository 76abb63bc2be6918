// How a found drafter enters the registry.
#pragma once

#include <draftproof/properties/erased.hpp>
#include <draftproof/properties/registry.hpp>

namespace draftproof {

template <class D>
void register_drafter() {
  Registry::instance().add(std::make_unique<DrafterOf<D>>());
}

}  // namespace draftproof
