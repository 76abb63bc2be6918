// With p = q after every prefix a scheme that claims it accepts a whole path always: with probability 1, or in every
// trial where the scheme cannot be explored.
#pragma once

#include <algorithm>

#include <draftproof/properties/paths/path_analysis.hpp>

namespace draftproof::checks::paths {

struct EqualLaws {
  static constexpr std::string_view name = "equal_laws";
  static constexpr std::string_view about = "where claimed: p = q accepts L tokens with probability 1";
  static constexpr int every = 4;
  static constexpr bool explores = false;
  static constexpr int trials = 16;

  /// A fixed tree may miss what the target emits.
  static bool applies(const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter) {
    return verifier.info().claims.accepts_equal_laws && !drafter.info().fixed;
  }
  static Answer check(PathInstanceAnalysis& at) {
    PathInstance equal = at.instance();
    for (auto& [prefix, weights] : equal.rows) weights.proposal = weights.target;
    if (!at.verifier().info().unsupported.explore.empty()) {
      const auto run = at.trials(equal, trials);
      const auto refused = std::count_if(run.begin(), run.end(), [&](const PathTrial& trial) {
        return trial.accepted() < at.instance().shape.length;
      });
      return Answer::held_if(refused == 0, [&] {
        return "with q = p accepts no whole path in " + std::to_string(refused) + " of " + std::to_string(trials) +
               " trials";
      });
    }
    const auto law = at.law_of(equal);
    if (!law.complete) return Answer::undecided("the tree was not walked whole");
    return Answer::held_if(law.accepted.back() == 1,
                           [&] { return "with q = p the numbers accepted have law " + to_text(law.accepted); });
  }
};

}  // namespace draftproof::checks::paths
