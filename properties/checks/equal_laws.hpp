// With p = q (after every prefix) a scheme that claims it accepts a draft (a whole path) always: with probability 1,
// or in every trial where the scheme cannot be explored.
#pragma once

#include <algorithm>

#include <draftproof/properties/instances/edit_proposals.hpp>
#include <draftproof/properties/paths/path_analysis.hpp>
#include <draftproof/properties/proof/property.hpp>

namespace draftproof::checks {

template <class Level>
struct EqualLaws {
  static constexpr std::string_view name = "equal_laws";
  static constexpr std::string_view about = on_level<Level>(
      "p = q: some draft is accepted with probability 1", "where claimed: p = q accepts L tokens with probability 1");
  static constexpr int every = 4;
  static constexpr bool explores = false;
  static constexpr int trials = on_level<Level>(64, 16);

  /// A fixed tree may miss what the target emits.
  static bool applies(const typename Level::Verifier& verifier, const typename Level::Drafter& drafter) {
    const auto& drafts = drafter.info();
    // The row of a cache is not the target's, whatever the proposal is.
    if constexpr (!positions)
      if (drafts.row != DraftRow::context) return false;
    return verifier.info().claims.accepts_equal_laws && !(positions ? drafts.ranks_tokens : drafts.fixed);
  }
  static Answer check(typename Level::InstanceAnalysis& at) {
    auto equal = at.instance();
    edit_proposals(equal, [](const auto& p, auto& q) { q = p; });
    if (!at.verifier().info().unsupported.explore.empty()) {
      const int refused = refusals(at, at.trials(equal, trials));
      return Answer::held_if(refused == 0, [&] {
        return on_level<Level>("with q = p refuses in ", "with q = p accepts no whole path in ") +
               std::to_string(refused) + " of " + std::to_string(trials) + " trials";
      });
    }
    const auto law = at.law_of(equal);
    if (!law.complete) return Answer::undecided("the tree was not walked whole");
    if constexpr (positions)
      return Answer::held_if(law.flag == 1, [&] { return "with q = p accepts " + to_text(law.flag); });
    else
      return Answer::held_if(law.accepted.back() == 1,
                             [&] { return "with q = p the numbers accepted have law " + to_text(law.accepted); });
  }

 private:
  static constexpr bool positions = std::is_same_v<Level, TokenLevel>;

  static int refusals(const InstanceAnalysis&, const Trials& run) {
    const auto refuses = [](const Verdict& v) { return v.accepted < 0; };
    return static_cast<int>(std::count_if(run.verdicts.begin(), run.verdicts.end(), refuses));
  }
  static int refusals(const PathInstanceAnalysis& at, const std::vector<PathTrial>& run) {
    const auto refuses = [&](const PathTrial& trial) { return trial.accepted() < at.instance().shape.length; };
    return static_cast<int>(std::count_if(run.begin(), run.end(), refuses));
  }
};

}  // namespace draftproof::checks
