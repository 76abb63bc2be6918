// A scheme that claims it emits the same token whatever the drafter does: randomness and target stay as they are, the
// proposal and the drafts change. Runs on plain rows, trial by trial, so it reaches schemes that no explorer can
// walk.
#pragma once

#include <algorithm>

#include <draftproof/properties/proof/property.hpp>

namespace draftproof::checks {

struct DrafterInvariance {
  static constexpr std::string_view name = "drafter_invariance";
  static constexpr std::string_view about = "where claimed: the token does not move with the proposal or the drafts";
  static constexpr int every = 1;
  static constexpr bool explores = false;
  static constexpr int trials = 16;

  static bool applies(const AnyVerifier& verifier, const AnyDrafter&) {
    return verifier.info().claims.drafter_invariant;
  }
  static Answer check(InstanceAnalysis& at) {
    const Trials wanted = at.trials(at.instance(), trials);
    for (const Instance& other : with_other_proposals(at.instance())) {
      // Its own drafts, and the drafts of the instance where the other proposal could not have drawn them.
      for (const Trials& found : {at.trials(other, trials), at.trials(other, wanted)})
        for (std::size_t t = 0; t < found.verdicts.size(); ++t)
          if (found.verdicts[t].token != wanted.verdicts[t].token)
            return Answer::violated("trial " + std::to_string(t) + " emits " +
                                    std::to_string(wanted.verdicts[t].token) + ", on " + other.text() + " " +
                                    std::to_string(found.verdicts[t].token));
    }
    return Answer::held();
  }

 private:
  /// Reversed, uniform, the target itself, and all on one token.
  static std::vector<Instance> with_other_proposals(const Instance& instance) {
    std::vector<Instance> others;
    const auto add = [&](auto edit) {
      others.push_back(instance);
      for (auto& row : others.back().proposals) edit(row);
    };
    add([](auto& row) { std::reverse(row.begin(), row.end()); });
    add([](auto& row) { std::fill(row.begin(), row.end(), 1); });
    add([&](auto& row) { row = instance.target; });
    for (std::size_t x = 0; x < instance.target.size(); ++x)
      add([x](auto& row) {
        std::fill(row.begin(), row.end(), 0);
        row[x] = 1;
      });
    return others;
  }
};

}  // namespace draftproof::checks
