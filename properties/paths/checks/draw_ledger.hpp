// Every draw of a run of iterations is on record, and none is used for two things: as of one position
// (properties/checks/draw_ledger.hpp), from one iteration to the next.
//
//   its own     no word is also the drafter's, another purpose's or another iteration's; no noise is read
//   its words   an iteration on a plan that has decided others reads as many words as on a new plan
//   on record   the words addressed are the draws logged; a run on the recorded words is the same run
//   in order    new words from the n-th draw on change no draw before it
//
// Seeded, deterministic.
#pragma once

#include <draftproof/properties/paths/iterations.hpp>
#include <draftproof/properties/paths/path_analysis.hpp>
#include <draftproof/properties/scripted/word_ledger.hpp>

namespace draftproof::checks::paths {

struct DrawLedger {
  static constexpr std::string_view name = "draw_ledger";
  static constexpr std::string_view about = "no random word serves two iterations or purposes, every draw replays";
  static constexpr int every = 4;
  static constexpr bool explores = false;
  static constexpr Tier tier = Tier::edge;
  static constexpr std::uint64_t iterations = 4;

  static bool applies(const AnyPathVerifier& verifier, const AnyTreeDrafter&) {
    return !verifier.info().shared_noise;
  }
  static Answer check(PathInstanceAnalysis& at) {
    const auto conditionals = double_contexts(at.instance());
    const auto decider = at.verifier().scripted_on(conditionals, at.instance().shape);
    draftproof::DrawLedger ledger;
    std::optional<std::string> wrong;
    run_iterations(at, conditionals, *decider, iterations,
                   [&](std::uint64_t t, const Iteration& one, const AddressedWords& drafting, const AddressedWords& words) {
                     if (wrong) return;
                     ledger.enter("draft", t, drafting);
                     ledger.enter("verify", t, words);
                     const auto fresh = at.verifier().scripted_on(conditionals, at.instance().shape);
                     wrong = ledger.conflict();
                     if (!wrong) wrong = fault_on_record(*fresh, one, words, t);
                     if (!wrong) wrong = fault_in_replay(*fresh, one, words);
                     if (!wrong) wrong = fault_in_order(*fresh, one, t);
                     if (wrong) wrong = "iteration " + std::to_string(t) + ": " + *wrong;
                   });
    return Answer::held_if(!wrong, [&] { return *wrong; });
  }

 private:
  using Wrong = std::optional<std::string>;

  static Wrong fault_on_record(PathPlayable& fresh, const Iteration& one, const AddressedWords& words, std::uint64_t t) {
    if (words.noise_blocks() > 0) return "reads noise that is its drafter's";
    if (words.addressed().size() != one.played.draws.size())
      return "reads " + std::to_string(words.addressed().size()) + " words and logs " +
             std::to_string(one.played.draws.size());
    TrialWords again(1, t, Philox::Role::verify);
    run_scripted(fresh, one.tree, one.carry, again);
    if (again.addressed().size() == words.addressed().size()) return std::nullopt;
    return "reads " + std::to_string(words.addressed().size()) + " words after other iterations, and " +
           std::to_string(again.addressed().size()) + " alone";
  }

  static Wrong fault_in_replay(PathPlayable& fresh, const Iteration& one, const AddressedWords& words) {
    RecordedWords recorded(words);
    const auto wrong = difference(one.played, run_scripted(fresh, one.tree, one.carry, recorded), one.tree);
    return wrong ? Wrong("replayed, " + *wrong) : Wrong();
  }

  static Wrong fault_in_order(PathPlayable& fresh, const Iteration& one, std::uint64_t t) {
    const auto& draws = one.played.draws;
    for (std::size_t n = 0; n < draws.size(); ++n) {
      TrialWords changed(1, t, Philox::Role::verify);
      changed.change_after(n, t + iterations);
      const ScriptedStep other = run_scripted(fresh, one.tree, one.carry, changed);
      if (!same_draws(other.draws, draws, n))
        return "new words from draw " + std::to_string(n) + " on change a draw before it";
      if (other.draws.size() <= n || other.draws[n].purpose != draws[n].purpose ||
          other.draws[n].num != draws[n].num || other.draws[n].den != draws[n].den)
        return "draw " + std::to_string(n) + " is another one with other words from it on";
    }
    return std::nullopt;
  }
};

}  // namespace draftproof::checks::paths
