// With p = q a scheme that claims it accepts the first draft always.
#pragma once

#include <draftproof/properties/property.hpp>

namespace draftproof::laws {

struct EqualLaws {
  static constexpr std::string_view name = "equal_laws";
  static constexpr std::string_view about = "p = q: some draft is accepted with probability 1";
  static constexpr int every = 4;

  static bool applies(const AnyVerifier& verifier, const AnyDrafter& drafter) {
    return verifier.info().claims.accepts_equal_laws && !drafter.info().ranks_tokens;
  }
  static Answer check(Examination& at) {
    Instance equal = at.instance();
    for (auto& row : equal.proposals) row = equal.target;
    const auto law = at.law_of(equal);
    if (!law.complete) return Answer::undecided("the tree was not walked whole");
    return Answer::held_if(law.flag == 1, [&] { return "with q = p accepts " + to_text(law.flag); });
  }
};

}  // namespace draftproof::laws
