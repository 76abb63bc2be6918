// A scheme that claims it emits the same token whatever the drafter does, given the drafts that agreed so far: noise,
// target and the proposals of the first d tokens stay as they are, those after d tokens change. Runs trial by trial,
// so it reaches schemes that no explorer can walk.
#pragma once

#include <algorithm>

#include <draftproof/properties/paths/path_analysis.hpp>

namespace draftproof::checks::paths {

struct DrafterInvariance {
  static constexpr std::string_view name = "drafter_invariance";
  static constexpr std::string_view about = "where claimed: a token does not move with the proposals from there on";
  static constexpr int every = 1;
  static constexpr bool explores = false;
  static constexpr int trials = 16;

  static bool applies(const AnyPathVerifier& verifier, const AnyTreeDrafter&) {
    return verifier.info().claims.drafter_invariant && verifier.info().unsupported.simulate.empty();
  }
  static Answer check(PathInstanceAnalysis& at) {
    const PathInstance listed = with_all_prefixes(at.instance());
    const auto wanted = at.trials(listed, trials);
    for (int depth = 0; depth < listed.shape.length; ++depth)
      for (const PathInstance& other : with_other_proposals(listed, static_cast<std::size_t>(depth))) {
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

  /// After `depth` tokens and more: reversed, uniform, the target itself, and all on the last token.
  static std::vector<PathInstance> with_other_proposals(const PathInstance& instance, std::size_t depth) {
    std::vector<PathInstance> others;
    const auto add = [&](auto edit) {
      others.push_back(instance);
      for (auto& [prefix, weights] : others.back().rows)
        if (prefix.size() >= depth) edit(weights);
    };
    add([](PrefixWeights& w) { std::reverse(w.proposal.begin(), w.proposal.end()); });
    add([](PrefixWeights& w) { std::fill(w.proposal.begin(), w.proposal.end(), 1); });
    add([](PrefixWeights& w) { w.proposal = w.target; });
    add([](PrefixWeights& w) {
      std::fill(w.proposal.begin(), w.proposal.end(), 0);
      w.proposal.back() = 1;
    });
    return others;
  }
};

}  // namespace draftproof::checks::paths
