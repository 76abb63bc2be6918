// A scheme that promises the target up to tau keeps to it: total variation at most tau, compared as fractions.
#pragma once

#include <draftproof/properties/proof/property.hpp>

namespace draftproof::checks {

struct WithinTau {
  static constexpr std::string_view name = "within_tau";
  static constexpr std::string_view about = "where promised: the output law is within tau of p in total variation";
  static constexpr int every = 1;

  static bool applies(const AnyVerifier& verifier, const AnyDrafter&) {
    return verifier.info().promise == Promise::lossless_up_to;
  }
  static Answer check(InstanceAnalysis& at) {
    const auto& law = at.law();
    if (!law.complete) return Answer::undecided("the tree was not walked whole");
    const Rational distance = total_variation(law.output, normalised(at.instance().target));
    return Answer::held_if(law.mass == 1 && distance <= Rational(at.verifier().info().tau), [&] {
      return "TV " + std::to_string(static_cast<double>(distance)) + ", promised " +
             std::to_string(at.verifier().info().tau);
    });
  }
};

}  // namespace draftproof::checks
