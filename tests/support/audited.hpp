// A mutant in the forms of the precision audit, for which the build compiles verifiers alone.
#pragma once

#include <utility>

#include <draftproof/sim/info.hpp>

namespace draftproof {

template <class M>
struct Audited : M {
  static constexpr Info info = [] {
    Info text = M::info;
    text.derived_from = {};  // no longer a mutant
    return text;
  }();

  Audited() = default;
  Audited(M mutant) : M{std::move(mutant)} {}
};

}  // namespace draftproof
