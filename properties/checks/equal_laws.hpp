// With p = q a scheme that claims it accepts a draft always: with probability 1, or in every trial where the scheme
// cannot be explored.
#pragma once

#include <algorithm>

#include <draftproof/properties/proof/property.hpp>

namespace draftproof::checks {

struct EqualLaws {
  static constexpr std::string_view name = "equal_laws";
  static constexpr std::string_view about = "p = q: some draft is accepted with probability 1";
  static constexpr int every = 4;
  static constexpr bool explores = false;
  static constexpr int trials = 64;

  static bool applies(const AnyVerifier& verifier, const AnyDrafter& drafter) {
    return verifier.info().claims.accepts_equal_laws && !drafter.info().ranks_tokens;
  }
  static Answer check(InstanceAnalysis& at) {
    Instance equal = at.instance();
    for (auto& row : equal.proposals) row = equal.target;
    if (!at.verifier().info().unsupported.explore.empty()) {
      const auto verdicts = at.trials(equal, trials).verdicts;
      const auto refused =
          std::count_if(verdicts.begin(), verdicts.end(), [](const Verdict& v) { return v.accepted < 0; });
      return Answer::held_if(refused == 0, [&] {
        return "with q = p refuses in " + std::to_string(refused) + " of " + std::to_string(trials) + " trials";
      });
    }
    const auto law = at.law_of(equal);
    if (!law.complete) return Answer::undecided("the tree was not walked whole");
    return Answer::held_if(law.flag == 1, [&] { return "with q = p accepts " + to_text(law.flag); });
  }
};

}  // namespace draftproof::checks
