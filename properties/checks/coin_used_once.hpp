// An accept coin decides one thing: with all other words as they are, the verdict takes at most two values as the
// coin goes from 0 to 1, and changes once.
//
//   u_n      coin n of a decision     swept over 0, 1/32, .., 31/32 and the largest uniform
//
// A coin that is also the threshold of the draw behind it leads to one token after another as it grows. A ledger does
// not see it, as the word is read once. Other words are addressed by address, so those behind the coin are the same
// whichever way it falls. Deterministic.
#pragma once

#include <draftproof/properties/proof/property.hpp>
#include <draftproof/properties/scripted/scripted_decision.hpp>

namespace draftproof::checks {

struct CoinUsedOnce {
  static constexpr std::string_view name = "coin_used_once";
  static constexpr std::string_view about = "other words fixed, an accept coin switches between two verdicts once";
  static constexpr int every = 4;
  static constexpr bool explores = false;
  static constexpr Tier tier = Tier::edge;
  static constexpr std::uint64_t trials = 6;

  static bool applies(const AnyVerifier& verifier, const AnyDrafter&) { return !verifier.info().shared_noise; }
  static Answer check(InstanceAnalysis& at) {
    const Rows<double> rows = double_laws(at.instance());
    const int drafts = at.instance().drafts;
    const auto decider = at.verifier().scripted_on(rows, drafts);
    const auto tuples = possible_tuples(at.drafter(), rows, drafts, trials);
    for (std::uint64_t t = 0; t < trials; ++t) {
      const Tuple& tuple = tuples[t % tuples.size()];
      TrialWords words(1, t, Philox::Role::verify);
      std::uint32_t coins = 0;
      for (const Draw& draw : run_scripted(*decider, tuple, words).draws) coins += draw.purpose == Purpose::flip;
      for (std::uint32_t n = 0; n < coins; ++n)
        if (auto wrong = fault_of_coin(*decider, tuple, t, n))
          return Answer::violated("trial " + std::to_string(t) + ", drafts " + tuple_text(tuple) + ": " + *wrong);
    }
    return Answer::held();
  }

 private:
  static constexpr std::uint64_t cells = 32;

  static std::optional<std::string> fault_of_coin(const Decider<Rows<double>, Scripted>& decider, const Tuple& tuple,
                                                  std::uint64_t trial, std::uint32_t n) {
    std::string seen;
    int switches = 0;
    Verdict last;
    for (std::uint64_t cell = 0; cell <= cells; ++cell) {
      TrialWords words(1, trial, Philox::Role::verify);
      words.replace(Purpose::flip, n, cell == cells ? edge::largest : cell << 59);
      const Verdict verdict = run_scripted(decider, tuple, words).verdict;
      if (cell > 0 && same(verdict, last)) continue;
      switches += cell > 0;
      seen += (cell > 0 ? ", then " : "") + verdict_text(verdict);
      last = verdict;
    }
    if (switches <= 1) return std::nullopt;
    return "as coin " + std::to_string(n) + " grows from 0 to 1 the verdict is " + seen;
  }
};

}  // namespace draftproof::checks
