// Seeded trials of one position on scripted random bits, and a source that rejects all drafts. Checks of both levels,
// one position and paths, use the calls below, which properties/paths/path_scripted.hpp defines for paths:
//
//   double_distributions(instance)                      the rows in double
//   plan_on(analysis, distributions)                    a new plan of the verifier
//   first_fault(analysis, distributions, plan, n, visit)
//                                              trials 0 .. n - 1: visit(t, trial, drafter's bits, verifier's bits)
//                                              returns a defect, or nullopt; ends with the first defect
//   run_scripted(plan, trial, words)           decides the trial's drafts again, on other random bits
//   fault_of(played, trial, distributions)              a defect that no output may have
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
DeciderPtr<L, Scripted> plan_on(const InstanceAnalysis& at, const L& distributions) {
  return at.verifier().scripted_on(distributions, at.instance().drafts);
}

template <class L>
ScriptedDecision run_scripted(const Decider<L, Scripted>& plan, const ScriptedTrial& trial, Words& words) {
  return run_scripted(plan, trial.drafts, words);
}

template <class L, class Visit>
std::optional<std::string> first_fault(const InstanceAnalysis& at, const L& distributions,
                                       const Decider<L, Scripted>& plan, std::uint64_t count, Visit visit) {
  for (std::uint64_t t = 0; t < count; ++t) {
    TrialWords drafting(1, t, Philox::Role::draft), verifying(1, t, Philox::Role::verify);
    Scripted random{WordsFrom(drafting)};
    ScriptedTrial trial{Tuple(max_drafts)};
    trial.drafts.resize(static_cast<std::size_t>(
        at.drafter().draw(distributions, at.instance().drafts, random, trial.drafts.data())));
    trial.played = run_scripted(plan, trial, verifying);
    if (std::optional<std::string> fault = visit(t, trial, drafting, verifying)) return fault;
  }
  return std::nullopt;
}

template <class L>
std::optional<std::string> fault_of(const ScriptedDecision& played, const ScriptedTrial& trial,
                                    const L& distributions) {
  return fault_of(played.verdict, trial.drafts, distributions);
}
inline bool same(const ScriptedDecision& a, const ScriptedDecision& b) { return same(a.verdict, b.verdict); }
inline std::string text_of(const ScriptedDecision& played, const ScriptedTrial&) {
  return verdict_text(played.verdict);
}
inline std::string place_of(std::uint64_t t, const ScriptedTrial& trial) {
  return "trial " + std::to_string(t) + ", drafts " + tuple_text(trial.drafts);
}

// A source of flips that rejects every draft, although no p and q reject every draft with certainty. It measures the
// reads and the cost of a scheme when nothing is accepted.

struct RefusesAll {
  std::uint64_t word;  ///< random bits for drawing tokens
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
