// How a found drafter enters the registry.
#pragma once

#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/subjects/erased.hpp>

namespace draftproof {

template <class D>
void register_drafter() {
  Registry::instance().add(std::make_unique<DrafterOf<D>>());
}
/// One that is wrong on purpose.
template <class D>
void register_wrong_drafter() {
  static_assert(D::info.misdeclares(), "a wrong drafter says which law it poses as");
  register_drafter<D>();
}

}  // namespace draftproof
