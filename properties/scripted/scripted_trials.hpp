// Seeded trials of one position on scripted words, and a source that refuses all drafts. Checks of both levels are
// written over the calls below, which properties/paths/path_scripted.hpp has for paths:
//
//   double_laws(instance)                      the laws in double
//   plan_on(analysis, laws)                    a new plan of the verifier
//   first_fault(analysis, laws, plan, n, visit)
//                                              trials 0 .. n - 1: visit(t, trial, drafting words, verifying words)
//                                              returns what is wrong, or nothing; ends with the first fault
//   run_scripted(plan, trial, words)           the trial's drafts again, on other words
//   fault_of(played, trial, laws)              what no output may be
//   place_of(t, trial)                         names the trial in a finding
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <draftproof/properties/proof/instance_analysis.hpp>
#include <draftproof/properties/scripted/scripted_decision.hpp>
#include <draftproof/sim/verifier.hpp>

namespace draftproof {

struct ScriptedTrial {
  Tuple drafts;
  ScriptedDecision played{};
};

template <class L>
DeciderPtr<L, Scripted> plan_on(const InstanceAnalysis& at, const L& laws) {
  return at.verifier().scripted_on(laws, at.instance().drafts);
}

template <class L>
ScriptedDecision run_scripted(const Decider<L, Scripted>& plan, const ScriptedTrial& trial, Words& words) {
  return run_scripted(plan, trial.drafts, words);
}

template <class L, class Visit>
std::optional<std::string> first_fault(const InstanceAnalysis& at, const L& laws, const Decider<L, Scripted>& plan,
                                       std::uint64_t count, Visit visit) {
  for (std::uint64_t t = 0; t < count; ++t) {
    TrialWords drafting(1, t, Philox::Role::draft), verifying(1, t, Philox::Role::verify);
    Scripted random{WordsFrom(drafting)};
    ScriptedTrial trial{Tuple(max_drafts)};
    trial.drafts.resize(
        static_cast<std::size_t>(at.drafter().draw(laws, at.instance().drafts, random, trial.drafts.data())));
    trial.played = run_scripted(plan, trial, verifying);
    if (std::optional<std::string> fault = visit(t, trial, drafting, verifying)) return fault;
  }
  return std::nullopt;
}

template <class L>
std::optional<std::string> fault_of(const ScriptedDecision& played, const ScriptedTrial& trial, const L& laws) {
  return fault_of(played.verdict, trial.drafts, laws);
}
inline bool same(const ScriptedDecision& a, const ScriptedDecision& b) { return same(a.verdict, b.verdict); }
inline std::string text_of(const ScriptedDecision& played, const ScriptedTrial&) {
  return verdict_text(played.verdict);
}
inline std::string place_of(std::uint64_t t, const ScriptedTrial& trial) {
  return "trial " + std::to_string(t) + ", drafts " + tuple_text(trial.drafts);
}

// A source of flips that rejects every draft; no pair of laws does so with certainty. It measures the reads and the
// cost of a scheme when nothing is accepted.

struct RefusesAll {
  std::uint64_t word;  ///< word with which tokens are drawn
  bool flip(double, double) const { return false; }
  template <class W>
  Token pick(const W& weights) const {
    return weights.draw(word);
  }
  template <class W>
  Verdict emit(const W& weights) const {
    return {weights.draw(word), none_accepted};
  }
};

}  // namespace draftproof
