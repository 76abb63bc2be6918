// Losslessness of a scheme without state: a step, completed by the target to L + 1 tokens, has the target's law.
//
//   e          the step: accepted tokens and one more, 1 .. L + 1 of them
//   beyond(x)  Pr[e goes beyond prefix x]
//   asked      Pr[e begins with xy] = beyond(x) p(y|x) for every prefix x of at most L tokens and every y
//
// The local form says the same as the completed law: with C(x) the completed probability of x,
// C(xy) = Pr[e begins with xy] + (C(x) - beyond(x)) p(y|x), so C(xy) = C(x) p(y|x) exactly where it holds. It needs
// no correction for random lengths and names the prefix where a scheme goes wrong.
#pragma once

#include <draftproof/properties/paths/path_analysis.hpp>
#include <draftproof/properties/paths/wrong_prefix.hpp>

namespace draftproof::checks::paths {

struct CompletedLaw {
  static constexpr std::string_view name = "completed_law";
  static constexpr std::string_view about =
      "whenever a step goes beyond a prefix, its next token has the target's law";
  static constexpr int every = 1;

  static bool applies(const AnyPathVerifier& verifier, const AnyTreeDrafter&) {
    return verifier.info().promise != Promise::lossless_up_to && !verifier.stateful();
  }
  static Answer check(PathInstanceAnalysis& at) {
    const auto& law = at.law();
    if (!law.complete) return Answer::undecided("more than " + std::to_string(at.limits().leaves) + " branches");
    if (law.mass != 1) return Answer::violated("emits with probability " + to_text(law.mass));
    const auto wrong = first_wrong_prefix(law.emitted, at.instance().conditionals());
    return Answer::held_if(!wrong, [&] { return wrong->text(); });
  }
};

}  // namespace draftproof::checks::paths
