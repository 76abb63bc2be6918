// Schemes with the claim `drafter_invariant` emit the same token for any proposal and drafts, with the same
// random bits and target. Along paths the proposals of the first d tokens are kept and later proposals are changed: the
// first d + 1 tokens must stay the same. Runs trials, so it also covers schemes that the explorer cannot enumerate.
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
      on_level<Level>("where claimed: the token does not change with the proposal or the drafts",
                      "where claimed: a token does not depend on the proposals at its position and later");
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
      // Both runs verify against the other proposal. The first also drafts from it; the second keeps the drafts from
      // the instance's proposal.
      for (const Trials& found : {at.trials(other, trials), at.trials(other, wanted)})
        for (std::size_t t = 0; t < found.verdicts.size(); ++t)
          if (found.verdicts[t].token != wanted.verdicts[t].token)
            return Answer::failed("trial " + std::to_string(t) + " emits " +
                                  std::to_string(wanted.verdicts[t].token) + ", but on " + other.text() + " " +
                                  std::to_string(found.verdicts[t].token));
    }
    return Answer::passed();
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
            return Answer::failed("trial " + std::to_string(t) + " emits " + prefix_text(start(wanted[t], depth)) +
                                  ", but with other proposals after " + std::to_string(depth) + " tokens " +
                                  prefix_text(start(found[t], depth)));
      }
    return Answer::passed();
  }

 private:
  /// Returns instances with other proposals: reversed, uniform, equal to p, and one-hot on each token from `first`
  /// on. `depth` is passed to edit_proposals().
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

  /// Returns the first depth + 1 emitted tokens. They may not depend on proposals for contexts longer than `depth`.
  static Tokens start(const PathTrial& trial, int depth) {
    Tokens tokens = trial.emitted;
    tokens.resize(std::min(tokens.size(), static_cast<std::size_t>(depth) + 1));
    return tokens;
  }

  /// Returns the same model, with explicit rows for every prefix of fewer than L tokens.
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
