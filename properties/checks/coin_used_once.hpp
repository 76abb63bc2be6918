// An accept uniform decides one thing: with all other random bits fixed, the verdict takes at most two values
// as the uniform grows from 0 to 1, and changes once.
//
//   u_n      accept uniform n of a decision     varied over 0, 1/32, .., 31/32 and the largest uniform
//
// A uniform that is also used as the threshold of the next draw leads to one token after another as it grows.
// The draw count does not reveal this, because the bits are read once. Random bits are addressed by purpose and
// index, so later draws are the same for either outcome of the test. Deterministic.
#pragma once

#include <draftproof/properties/proof/property.hpp>
#include <draftproof/properties/scripted/scripted_decision.hpp>

namespace draftproof::checks {

struct CoinUsedOnce {
  static constexpr std::string_view name = "coin_used_once";
  static constexpr std::string_view about =
      "with other random bits fixed, the verdict changes at most once as an accept uniform grows";
  static constexpr int every = 4;
  static constexpr bool explores = false;
  static constexpr Tier tier = Tier::edge;
  static constexpr std::uint64_t trials = 6;

  static bool applies(const AnyVerifier& verifier, const AnyDrafter&) { return !verifier.info().shared_noise; }
  static Answer check(InstanceAnalysis& at) {
    const Rows<double> rows = double_distributions(at.instance());
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
          return Answer::failed("trial " + std::to_string(t) + ", drafts " + tuple_text(tuple) + ": " + *wrong);
    }
    return Answer::passed();
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
    return "as accept uniform " + std::to_string(n) + " grows from 0 to 1 the verdict is " + seen;
  }
};

}  // namespace draftproof::checks
