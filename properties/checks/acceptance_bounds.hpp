// No lossless verifier accepts more than the optimum of its draft law, and a flag never exceeds membership.
#pragma once

#include <draftproof/properties/proof/property.hpp>

namespace draftproof::checks {

struct AcceptanceBounds {
  static constexpr std::string_view name = "acceptance_bounds";
  static constexpr std::string_view about = "0 <= flag <= membership <= optimum over all cuts of the draft law";
  static constexpr int every = 1;

  static bool applies(const AnyVerifier& verifier, const AnyDrafter&) {
    return verifier.info().promise == Promise::lossless;
  }
  static Answer check(InstanceAnalysis& at) {
    const auto& law = at.law();
    if (!law.complete) return Answer::undecided("the tree was not walked whole");
    const Rational optimum = at.optimum();
    const bool equal = !at.verifier().info().claims.flag_is_membership || law.flag == law.membership;
    return Answer::held_if(law.flag >= 0 && law.flag <= law.membership && law.membership <= optimum && equal, [&] {
      return "flag " + to_text(law.flag) + ", membership " + to_text(law.membership) + ", optimum " +
             to_text(optimum) + (equal ? "" : "; the scheme claims flag = membership");
    });
  }
};

}  // namespace draftproof::checks
