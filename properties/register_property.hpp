// How a found property enters the registry.
#pragma once

#include <draftproof/properties/registry.hpp>

namespace draftproof {

template <class P>
void register_property() {
  constexpr bool explores = [] {
    if constexpr (requires { P::explores; })
      return P::explores;
    else
      return true;
  }();
  Registry::instance().add(Property{P::name, P::about, P::every, explores, &P::applies, &P::check});
}

}  // namespace draftproof
