// No trial emits a token that the target does not have, none ends without a token, and an accepted draft is the
// token: a count above zero is a proof of failure.
//
// Seeded trials on the plain rows and on the prepared table, where the scheme has one. Deterministic: the same trials
// every time, whatever else is asked.
#pragma once

#include <draftproof/properties/proof/property.hpp>
#include <draftproof/properties/scripted/scripted_decision.hpp>

namespace draftproof::checks {

struct ZeroSupport {
  static constexpr std::string_view name = "zero_support";
  static constexpr std::string_view about = "no trial emits a token with p = 0, or none, or accepts another draft";
  static constexpr int every = 2;
  static constexpr bool explores = false;
  static constexpr Tier tier = Tier::edge;
  static constexpr int trials = 32;

  static bool applies(const AnyVerifier&, const AnyDrafter&) { return true; }
  static Answer check(InstanceAnalysis& at) {
    const Rows<double> rows = double_laws(at.instance());
    if (auto wrong = first_fault(at, rows, at.trials(at.instance(), trials))) return Answer::violated(*wrong);
    if (!at.verifier().info().unsupported.simulate.empty()) return Answer::held();
    const RatioTable table = table_of(rows);
    Trials tabulated(trials, at.instance().drafts);
    at.drafter().draw(table, at.instance().drafts, tabulated.batch());
    at.verifier().simulate_on(table, at.instance().drafts)->decide(tabulated.batch(), tabulated.verdicts.data());
    if (auto wrong = first_fault(at, rows, tabulated)) return Answer::violated("on the table, " + *wrong);
    return Answer::held();
  }

 private:
  static std::optional<std::string> first_fault(const InstanceAnalysis& at, const Rows<double>& rows,
                                                const Trials& ran) {
    for (std::size_t t = 0; t < ran.verdicts.size(); ++t) {
      const auto first = ran.drafts.begin() + static_cast<std::ptrdiff_t>(t) * ran.stride;
      const Tuple tuple(first, first + ran.lengths[t]);
      if (const auto fault = fault_of(ran.verdicts[t], tuple, rows))
        return "trial " + std::to_string(t) + " of " + std::string(at.drafter().info().name) + ", drafts " +
               tuple_text(tuple) + ": " + *fault;
    }
    return std::nullopt;
  }
};

}  // namespace draftproof::checks
