// Plain rows and the prepared table are one law: what a scheme emits on them, walked in double, differs by rounding
// alone. Tokens for the same words need not agree, laws must.
//
//   TV       at most K (V + 8) 2^-53 a form for sums and products along a path of K tests, V 2^-53 for the rounding
//   of
//            the table's rows; the plans of a scheme add as much again: in all below 8 K (V + 8) 2^-53
//
// For lossless schemes, whose law does not hang on which of two equal numbers rounding makes the greater.
#pragma once

#include <cmath>

#include <draftproof/properties/proof/property.hpp>
#include <draftproof/properties/scripted/scripted_decision.hpp>

namespace draftproof::checks {

struct FormsAgree {
  static constexpr std::string_view name = "forms_agree";
  static constexpr std::string_view about = "plain rows and prepared table give the same law, rounding aside";
  static constexpr int every = 8;
  static constexpr Tier tier = Tier::edge;

  static bool applies(const AnyVerifier& verifier, const AnyDrafter&) {
    return verifier.info().promise == Promise::lossless && verifier.info().unsupported.simulate.empty() &&
           verifier.info().precision_audited();
  }
  static Answer check(InstanceAnalysis& at) {
    const int drafts = at.instance().drafts;
    const Rows<double> rows = double_laws(at.instance());
    const RatioTable table = table_of(rows);
    const auto on_rows = at.verifier().explore_on(rows, drafts);
    const auto on_table = at.verifier().explore_on(table, drafts);
    const auto plain = explore_law(at.drafter(), *on_rows, rows, drafts, at.limits());
    const auto prepared = explore_law(at.drafter(), *on_table, table, drafts, at.limits());
    if (!plain.complete || !prepared.complete) return Answer::undecided("the tree was not walked whole");
    double distance = 0;
    for (std::size_t x = 0; x < plain.output.size(); ++x)
      distance += std::abs(plain.output[x] - prepared.output[x]) / 2;
    const double bound = 8.0 * drafts * (at.instance().vocabulary() + 8) * 0x1p-53;
    return Answer::held_if(distance <= bound, [&] { return "the laws are " + std::to_string(distance) + " apart"; });
  }
};

}  // namespace draftproof::checks
