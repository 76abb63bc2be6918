// The same tree, carry and words, the same step: from another plan, from one that has seen nothing, and from one
// that has decided other iterations before. A plan may grow; what it gives may not change. Seeded, deterministic.
#pragma once

#include <draftproof/properties/paths/iterations.hpp>
#include <draftproof/properties/paths/path_analysis.hpp>

namespace draftproof::checks::paths {

struct Determinism {
  static constexpr std::string_view name = "determinism";
  static constexpr std::string_view about =
      "a step depends on laws, tree, carry and words, not on other iterations";
  static constexpr int every = 4;
  static constexpr bool explores = false;
  static constexpr Tier tier = Tier::edge;
  static constexpr std::uint64_t iterations = 6;

  static bool applies(const AnyPathVerifier&, const AnyTreeDrafter&) { return true; }
  static Answer check(PathInstanceAnalysis& at) {
    const auto conditionals = double_contexts(at.instance());
    const auto decider = at.verifier().scripted_on(conditionals, at.instance().shape);
    std::vector<Iteration> before;
    run_iterations(
        at, conditionals, *decider, iterations,
        [&](std::uint64_t, const Iteration& one, const AddressedWords&, const AddressedWords&) { before.push_back(one); });
    const auto other = at.verifier().scripted_on(conditionals, at.instance().shape);
    for (std::uint64_t t = before.size(); t-- > 0;) {
      const auto fresh = at.verifier().scripted_on(conditionals, at.instance().shape);
      for (const auto& [which, again] : {std::pair("a new plan", fresh.get()), std::pair("another plan", other.get()),
                                         std::pair("the same plan", decider.get())}) {
        TrialWords words(1, t, Philox::Role::verify);
        const ScriptedStep played = run_scripted(*again, before[t].tree, before[t].carry, words);
        if (auto wrong = difference(before[t].played, played, before[t].tree))
          return Answer::violated("iteration " + std::to_string(t) + ": " + *wrong + " from " + which);
      }
    }
    return Answer::held();
  }
};

}  // namespace draftproof::checks::paths
