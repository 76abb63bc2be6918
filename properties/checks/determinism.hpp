// The same words, the same verdict: from a plan made anew, from another decider, and after other decisions in
// between. What a plan remembers of a decision would be seen here.
#pragma once

#include <draftproof/properties/proof/property.hpp>
#include <draftproof/properties/scripted/scripted_decision.hpp>

namespace draftproof::checks {

struct Determinism {
  static constexpr std::string_view name = "determinism";
  static constexpr std::string_view about = "a decision depends on laws, drafts and words, not on other decisions";
  static constexpr int every = 4;
  static constexpr bool explores = false;
  static constexpr Tier tier = Tier::edge;
  static constexpr std::uint64_t trials = 6;

  static bool applies(const AnyVerifier&, const AnyDrafter&) { return true; }
  static Answer check(InstanceAnalysis& at) {
    const Rows<double> rows = double_rows(at.instance());
    if (auto wrong = first_difference(at, rows)) return Answer::violated(*wrong);
    if (!at.verifier().info().unsupported.simulate.empty()) return Answer::held();
    const RatioTable table = table_of(rows);
    if (auto wrong = first_difference(at, table)) return Answer::violated("on the table, " + *wrong);
    return Answer::held();
  }

 private:
  template <class L>
  static std::optional<std::string> first_difference(const InstanceAnalysis& at, const L& laws) {
    const int drafts = at.instance().drafts;
    const auto used = at.verifier().scripted_on(laws, drafts), other = at.verifier().scripted_on(laws, drafts);
    std::vector<Tuple> tuples;
    std::vector<ScriptedDecision> first;
    for (std::uint64_t t = 0; t < trials; ++t) {
      TrialWords drawn(1, t, Philox::Role::draft);
      Scripted random{WordsFrom(drawn)};
      Tuple tuple(max_drafts);
      tuple.resize(static_cast<std::size_t>(at.drafter().draw(laws, drafts, random, tuple.data())));
      tuples.push_back(std::move(tuple));
      first.push_back(played(*used, tuples.back(), t));
    }
    for (std::uint64_t t = trials; t-- > 0;) {
      const auto& tuple = tuples[t];
      if (auto wrong = difference(first[t], played(*other, tuple, t), t, tuple)) return *wrong + " from another plan";
      if (auto wrong = difference(first[t], played(*used, tuple, t), t, tuple)) return *wrong + " after others";
      // The last trial was decided after the others the first time: alone on a new plan it must be the same.
      const auto fresh = at.verifier().scripted_on(laws, drafts);
      if (auto wrong = difference(first[t], played(*fresh, tuple, t), t, tuple)) return *wrong + " from a new plan";
    }
    return std::nullopt;
  }

  template <class L>
  static ScriptedDecision played(const Decider<L, Scripted>& decider, const Tuple& tuple, std::uint64_t trial) {
    TrialWords words(1, trial, Philox::Role::verify);
    return run_scripted(decider, tuple, words);
  }

  static std::optional<std::string> difference(const ScriptedDecision& first, const ScriptedDecision& again, std::uint64_t trial,
                                               const Tuple& tuple) {
    const bool as_many = first.draws.size() == again.draws.size();
    if (same(first.verdict, again.verdict) && as_many && same_draws(first.draws, again.draws, first.draws.size()))
      return std::nullopt;
    return "trial " + std::to_string(trial) + ", drafts " + tuple_text(tuple) + ": " + verdict_text(first.verdict) +
           " by " + std::to_string(first.draws.size()) + " draws, and " + verdict_text(again.verdict) + " by " +
           std::to_string(again.draws.size());
  }
};

}  // namespace draftproof::checks
