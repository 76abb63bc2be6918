// The same words give the same output: on a new plan, on another plan, and on a plan that has decided other trials in
// between. A plan may grow; its decisions may not change. Seeded, deterministic.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include <draftproof/properties/paths/iterations.hpp>
#include <draftproof/properties/scripted/scripted_trials.hpp>

namespace draftproof::checks {

template <class Level>
struct Determinism {
  using Analysis = typename Level::InstanceAnalysis;

  static constexpr std::string_view name = "determinism";
  static constexpr std::string_view about =
      on_level<Level>("a decision depends on laws, drafts and words, not on other decisions",
                      "a step depends on laws, tree, carry and words, not on other iterations");
  static constexpr int every = 4;
  static constexpr bool explores = false;
  static constexpr Tier tier = Tier::edge;
  static constexpr std::uint64_t trials = 6;

  static bool applies(const typename Level::Verifier&, const typename Level::Drafter&) { return true; }
  static Answer check(Analysis& at) {
    const auto laws = double_laws(at.instance());
    if (auto wrong = first_difference(at, laws)) return Answer::violated(*wrong);
    if constexpr (std::is_same_v<Level, TokenLevel>) {
      if (!at.verifier().info().unsupported.simulate.empty()) return Answer::held();
      if (auto wrong = first_difference(at, table_of(laws))) return Answer::violated("on the table, " + *wrong);
    }
    return Answer::held();
  }

 private:
  template <class L>
  static std::optional<std::string> first_difference(const Analysis& at, const L& laws) {
    const auto used = plan_on(at, laws), other = plan_on(at, laws);
    using Trial = std::conditional_t<std::is_same_v<Level, TokenLevel>, ScriptedTrial, Iteration>;
    std::vector<Trial> before;
    first_fault(at, laws, *used, trials, [&](std::uint64_t, const Trial& trial, const auto&, const auto&) {
      before.push_back(trial);
      return std::optional<std::string>();
    });
    for (std::uint64_t t = before.size(); t-- > 0;) {
      // The last trial was decided after the others the first time: alone on a new plan it must be the same.
      const auto fresh = plan_on(at, laws);
      using Plan = std::pair<decltype(used.get()), const char*>;
      const Plan alone{fresh.get(), " from a new plan"}, another{other.get(), " from another plan"};
      const Plan again{used.get(), on_level<Level>(" after others", " from the same plan")};
      for (const auto& [plan, which] :
           on_level<Level>(std::array{another, again, alone}, std::array{alone, another, again})) {
        TrialWords words(1, t, Philox::Role::verify);
        if (auto wrong = difference(before[t], run_scripted(*plan, before[t], words), " draws, and "))
          return place_of(t, before[t]) + ": " + *wrong + which;
      }
    }
    return std::nullopt;
  }
};

}  // namespace draftproof::checks
