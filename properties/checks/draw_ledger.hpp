// Every draw is on record and none is used for two things: a verifier reads words of its own, all of them are logged,
// and no draw depends on words that were read after it.
//
//   its own     no word is also the drafter's, another purpose's or another trial's (DrawLedger); noise that drafters
//               read is for schemes that declare it
//   on record   the words addressed are the draws logged; a run on the recorded words is the same run
//   in order    new words from the n-th draw on change no draw before it, and new words behind the last one nothing
//   terminal    nothing is drawn after the emitted token (positions)
//   its words   an iteration on a plan that has decided others reads as many words as on a new plan (paths)
//
// Seeded trials with their words addressed by address, along paths one iteration after the other. Deterministic.
#pragma once

#include <algorithm>

#include <draftproof/properties/paths/path_scripted.hpp>
#include <draftproof/properties/scripted/scripted_decision.hpp>
#include <draftproof/properties/scripted/scripted_trials.hpp>

namespace draftproof::checks {

template <class Level>
struct DrawLedger {
  static constexpr std::string_view name = "draw_ledger";
  static constexpr std::string_view about =
      on_level<Level>("no random word serves two purposes, every draw is logged and replays",
                      "no random word serves two iterations or purposes, every draw replays");
  static constexpr int every = 4;
  static constexpr bool explores = false;
  static constexpr Tier tier = Tier::edge;
  static constexpr std::uint64_t trials = 4;

  static bool applies(const typename Level::Verifier& verifier, const typename Level::Drafter&) {
    return positions || !verifier.info().shared_noise;
  }
  static Answer check(typename Level::InstanceAnalysis& at) {
    const auto laws = double_laws(at.instance());
    const auto plan = plan_on(at, laws);
    draftproof::DrawLedger ledger;
    const Wrong wrong = first_fault(
        at, laws, *plan, trials,
        [&](std::uint64_t t, const auto& trial, const AddressedWords& drafting, const AddressedWords& words) {
          ledger.enter("draft", t, drafting);
          ledger.enter("verify", t, words);
          const auto fresh = positions ? nullptr : plan_on(at, laws);
          auto& again = fresh ? *fresh : *plan;
          Wrong fault = ledger.conflict();
          if (!fault) fault = fault_on_record(at.verifier().info(), again, trial, words, t);
          if (!fault) fault = fault_in_replay(again, trial, words);
          if (!fault) fault = fault_in_order(again, trial, t);
          if (fault) fault = place_of(t, trial) + ": " + *fault;
          return fault;
        });
    return Answer::held_if(!wrong, [&] { return *wrong; });
  }

 private:
  using Wrong = std::optional<std::string>;
  static constexpr bool positions = std::is_same_v<Level, TokenLevel>;

  static Wrong fault_on_record(const Info& info, auto& plan, const auto& trial, const AddressedWords& words,
                               std::uint64_t t) {
    const auto& draws = trial.played.draws;
    if (words.noise_blocks() > 0 && !info.shared_noise)
      return on_level<Level>("reads noise that its drafter may have read", "reads noise that is its drafter's");
    if (const auto read = words.addressed().size() + 2 * words.noise_blocks(); read != draws.size())
      return "reads " + std::to_string(read) + " words and logs " + std::to_string(draws.size());
    if constexpr (positions) {
      const auto emits = [](const Draw& draw) { return draw.purpose == Purpose::emit; };
      // A draw by several words, as a race is, may be one token.
      if (std::any_of(draws.begin(), draws.end(), emits) && !emits(draws.back())) return "draws after it has emitted";
    } else {
      TrialWords again(1, t, Philox::Role::verify);
      run_scripted(plan, trial, again);
      if (again.addressed().size() != words.addressed().size())
        return "reads " + std::to_string(words.addressed().size()) + " words after other iterations, and " +
               std::to_string(again.addressed().size()) + " alone";
    }
    return std::nullopt;
  }

  static Wrong fault_in_replay(auto& plan, const auto& trial, const AddressedWords& words) {
    if (words.noise_blocks() > 0) return std::nullopt;  // noise has addresses, and no order to be played in
    RecordedWords recorded(words);
    Wrong wrong =
        difference(trial, run_scripted(plan, trial, recorded), on_level<Level>(" draws, replayed ", " draws, and "));
    if (wrong) wrong = on_level<Level>("emits ", "replayed, ") + *wrong;
    return wrong;
  }

  static Wrong fault_in_order(auto& plan, const auto& trial, std::uint64_t t) {
    const auto& draws = trial.played.draws;
    if (std::any_of(draws.begin(), draws.end(), [](const Draw& draw) { return draw.purpose == Purpose::noise; }))
      return std::nullopt;
    for (std::size_t n = 0; n < draws.size(); ++n) {
      TrialWords changed(1, t, Philox::Role::verify);
      changed.change_after(n, t + trials);
      const auto other = run_scripted(plan, trial, changed).draws;
      if (!same_draws(other, draws, n))
        return "new words from draw " + std::to_string(n) + " on change a draw before it";
      if (other.size() <= n || other[n].purpose != draws[n].purpose || other[n].num != draws[n].num ||
          other[n].den != draws[n].den)
        return "draw " + std::to_string(n) + " is another one with other words from it on";
    }
    return std::nullopt;
  }
};

}  // namespace draftproof::checks
