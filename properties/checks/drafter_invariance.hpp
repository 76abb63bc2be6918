// A scheme that claims it emits the same token whatever the drafter does: randomness and target stay as they are, the
// proposal and the drafts change. Along paths this holds given the drafts that agreed so far: the proposals of the
// first d tokens stay as they are, those after d tokens change. Runs trial by trial, so it reaches schemes that no
// explorer can walk.
#pragma once

#include <algorithm>

#include <draftproof/properties/instances/instance.hpp>
#include <draftproof/properties/paths/path_analysis.hpp>
#include <draftproof/properties/proof/property.hpp>

namespace draftproof::checks {

template <class Level>
struct DrafterInvariance {
  static constexpr std::string_view name = "drafter_invariance";
  static constexpr std::string_view about =
      on_level<Level>("where claimed: the token does not move with the proposal or the drafts",
                      "where claimed: a token does not move with the proposals from there on");
  static constexpr int every = 1;
  static constexpr bool explores = false;
  static constexpr int trials = 16;

  static bool applies(const typename Level::Verifier& verifier, const typename Level::Drafter&) {
    return verifier.info().claims.drafter_invariant &&
           (std::is_same_v<Level, TokenLevel> || verifier.info().unsupported.simulate.empty());
  }

  static Answer check(InstanceAnalysis& at) {
    const Trials wanted = at.trials(at.instance(), trials);
    for (const Instance& other : with_other_proposals(at.instance(), 0)) {
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

  static Answer check(PathInstanceAnalysis& at) {
    const PathInstance listed = with_all_prefixes(at.instance());
    const auto wanted = at.trials(listed, trials);
    const auto last = static_cast<std::size_t>(listed.vocabulary() - 1);
    for (int depth = 0; depth < listed.shape.length; ++depth)
      for (const PathInstance& other : with_other_proposals(listed, last, static_cast<std::size_t>(depth))) {
        const auto found = at.trials(other, trials);
        for (std::size_t t = 0; t < found.size(); ++t)
          if (start(found[t], depth) != start(wanted[t], depth))
            return Answer::violated("trial " + std::to_string(t) + " emits " + prefix_text(start(wanted[t], depth)) +
                                    ", with other proposals after " + std::to_string(depth) + " tokens " +
                                    prefix_text(start(found[t], depth)));
      }
    return Answer::held();
  }

 private:
  /// Reversed, uniform, the target itself, and all on one token, `first` or a later one. `depth` is edit_proposals's.
  template <class Instance>
  static std::vector<Instance> with_other_proposals(const Instance& instance, std::size_t first, auto... depth) {
    std::vector<Instance> others;
    const auto add = [&](auto edit) {
      others.push_back(instance);
      edit_proposals(others.back(), edit, depth...);
    };
    add([](const auto&, auto& q) { std::reverse(q.begin(), q.end()); });
    add([](const auto&, auto& q) { std::fill(q.begin(), q.end(), 1); });
    add([](const auto& p, auto& q) { q = p; });
    for (std::size_t x = first; x < static_cast<std::size_t>(instance.vocabulary()); ++x)
      add([x](const auto&, auto& q) {
        std::fill(q.begin(), q.end(), 0);
        q[x] = 1;
      });
    return others;
  }

  /// The token after `depth` and those before it: what the proposals from there on may not move.
  static Tokens start(const PathTrial& trial, int depth) {
    Tokens tokens = trial.emitted;
    tokens.resize(std::min(tokens.size(), static_cast<std::size_t>(depth) + 1));
    return tokens;
  }

  /// The same model with the rows of every prefix shorter than a path listed.
  static PathInstance with_all_prefixes(PathInstance instance) {
    const auto add = [&instance](auto&& self, const Tokens& prefix) -> void {
      instance.rows.try_emplace(prefix, instance.after(prefix));
      if (static_cast<int>(prefix.size()) + 1 >= instance.shape.length) return;
      for (Token x = 0; x < instance.vocabulary(); ++x) {
        Tokens longer = prefix;
        longer.push_back(x);
        self(self, longer);
      }
    };
    add(add, {});
    return instance;
  }
};

}  // namespace draftproof::checks
