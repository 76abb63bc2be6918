// Every draw is on record and none is used for two things: what a verifier reads is its own, all of it is logged, and
// no draw depends on words that were read after it.
//
//   its own     no word is also the drafter's, another purpose's or another trial's (properties/scripted/word_ledger.hpp);
//               noise that drafters read is for schemes that say so
//   on record   the words addressed are the draws logged; a run on the recorded words is the same run
//   in order    new words from the n-th draw on change no draw before it, and new words behind the last one nothing
//   terminal    nothing is drawn after the emitted token
//
// Seeded trials with their words addressed by address. Deterministic.
#pragma once

#include <algorithm>

#include <draftproof/properties/proof/property.hpp>
#include <draftproof/properties/scripted/scripted_decision.hpp>
#include <draftproof/properties/scripted/word_ledger.hpp>

namespace draftproof::checks {

struct DrawLedger {
  static constexpr std::string_view name = "draw_ledger";
  static constexpr std::string_view about = "no random word serves two purposes, every draw is logged and replays";
  static constexpr int every = 4;
  static constexpr bool explores = false;
  static constexpr Tier tier = Tier::edge;
  static constexpr std::uint64_t trials = 4;

  static bool applies(const AnyVerifier&, const AnyDrafter&) { return true; }
  static Answer check(InstanceAnalysis& at) {
    const Rows<double> rows = double_rows(at.instance());
    const int drafts = at.instance().drafts;
    const auto decider = at.verifier().scripted_on(rows, drafts);
    draftproof::DrawLedger ledger;
    for (std::uint64_t t = 0; t < trials; ++t) {
      TrialWords drafting(1, t, Philox::Role::draft), verifying(1, t, Philox::Role::verify);
      Scripted random{WordsFrom(drafting)};
      Tuple tuple(max_drafts);
      tuple.resize(static_cast<std::size_t>(at.drafter().draw(rows, drafts, random, tuple.data())));
      const ScriptedDecision played = run_scripted(*decider, tuple, verifying);
      ledger.enter("draft", t, drafting);
      ledger.enter("verify", t, verifying);
      auto wrong = ledger.conflict();
      if (!wrong) wrong = fault_on_record(at.verifier().info(), verifying, played);
      if (!wrong) wrong = fault_in_replay(*decider, tuple, verifying, played);
      if (!wrong) wrong = fault_in_order(*decider, tuple, t, played);
      if (wrong)
        return Answer::violated("trial " + std::to_string(t) + ", drafts " + tuple_text(tuple) + ": " + *wrong);
    }
    return Answer::held();
  }

 private:
  using Playable = Decider<Rows<double>, Scripted>;
  using Wrong = std::optional<std::string>;

  static Wrong fault_on_record(const Info& info, const AddressedWords& words, const ScriptedDecision& played) {
    if (words.noise_blocks() > 0 && !info.shared_noise) return "reads noise that its drafter may have read";
    if (const auto read = words.addressed().size() + 2 * words.noise_blocks(); read != played.draws.size())
      return "reads " + std::to_string(read) + " words and logs " + std::to_string(played.draws.size());
    const auto emitted = std::find_if(played.draws.begin(), played.draws.end(),
                                      [](const Draw& draw) { return draw.purpose == Purpose::emit; });
    // A draw by several words, as a race is, may be one token.
    if (emitted != played.draws.end() && played.draws.back().purpose != Purpose::emit)
      return "draws after it has emitted";
    return std::nullopt;
  }

  static Wrong fault_in_replay(const Playable& decider, const Tuple& tuple, const AddressedWords& words,
                               const ScriptedDecision& played) {
    if (words.noise_blocks() > 0) return std::nullopt;  // noise has addresses, and no order to be played in
    RecordedWords recorded(words);
    const ScriptedDecision again = run_scripted(decider, tuple, recorded);
    if (same(again.verdict, played.verdict) && again.draws.size() == played.draws.size() &&
        same_draws(again.draws, played.draws, played.draws.size()))
      return std::nullopt;
    return "emits " + verdict_text(played.verdict) + " by " + std::to_string(played.draws.size()) +
           " draws, replayed " + verdict_text(again.verdict) + " by " + std::to_string(again.draws.size());
  }

  static Wrong fault_in_order(const Playable& decider, const Tuple& tuple, std::uint64_t trial,
                              const ScriptedDecision& played) {
    if (std::any_of(played.draws.begin(), played.draws.end(),
                    [](const Draw& draw) { return draw.purpose == Purpose::noise; }))
      return std::nullopt;
    for (std::size_t n = 0; n < played.draws.size(); ++n) {
      TrialWords changed(1, trial, Philox::Role::verify);
      changed.change_after(n, trial + trials);
      const ScriptedDecision other = run_scripted(decider, tuple, changed);
      if (!same_draws(other.draws, played.draws, n))
        return "new words from draw " + std::to_string(n) + " on change a draw before it";
      if (other.draws.size() <= n || other.draws[n].purpose != played.draws[n].purpose ||
          other.draws[n].num != played.draws[n].num || other.draws[n].den != played.draws[n].den)
        return "draw " + std::to_string(n) + " is another one with other words from it on";
    }
    return std::nullopt;
  }
};

}  // namespace draftproof::checks
