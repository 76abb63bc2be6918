// Losslessness itself: the law of the emitted token equals the target, as fractions. A scheme that is lossy by design
// is asked too: the answer is its law and its distance, and one that turned out exact would be worth knowing.
#pragma once

#include <draftproof/properties/proof/property.hpp>

namespace draftproof::checks {

struct ExactLaw {
  static constexpr std::string_view name = "exact_law";
  static constexpr std::string_view about = "the output law equals p, with == on fractions";
  static constexpr int every = 1;

  static bool applies(const AnyVerifier& verifier, const AnyDrafter&) {
    return verifier.info().promise != Promise::lossless_up_to;
  }
  static Answer check(InstanceAnalysis& at) {
    const auto& law = at.law();
    if (!law.complete) return Answer::undecided("more than " + std::to_string(at.limits().leaves) + " branches");
    const auto target = normalised(at.instance().target);
    return Answer::held_if(law.mass == 1 && law.output == target, [&] {
      return "got " + brief(law.output) + ", wanted " + brief(target) + ", TV " +
             brief(total_variation(law.output, target));
    });
  }
};

}  // namespace draftproof::checks
