// One draft tuple at a time: the verdict is a law, it never emits what the target cannot, and a draft it says it
// accepted is the token it emitted.
//
// The output law averages over tuples and does not look at flags. A wrong index there corrupts whatever an engine
// keeps of the accepted draft; a token without target mass is proof of a defect at any number of trials.
#pragma once

#include <draftproof/properties/proof/property.hpp>

namespace draftproof::checks {

struct DraftConditional {
  static constexpr std::string_view name = "draft_conditional";
  static constexpr std::string_view about =
      "given the drafts: mass 1, none where p = 0, and an accepted draft is the token emitted";
  static constexpr int every = 4;

  static bool applies(const AnyVerifier&, const AnyDrafter&) { return true; }
  static Answer check(InstanceAnalysis& at) {
    const auto rows = at.instance().rows();
    const auto decider = at.verifier().prove_on(rows, at.instance().drafts);
    std::string evidence;
    bool whole = true;
    const bool all = at.each_tuple([&](std::span<const Token> tuple, const Rational&) {
      if (!evidence.empty() || !whole) return;
      Rational mass = 0;
      const auto add = [&](Token x, int accepted, const Rational& probability) {
        mass += probability;
        if (evidence.empty() && probability > 0) evidence = fault(rows, tuple, x, accepted);
      };
      whole = at.each_verdict(*decider, tuple, add);
      if (whole && evidence.empty() && mass != 1) evidence = "has mass " + to_text(mass);
      if (!evidence.empty()) evidence = "given the drafts " + text_of(tuple) + " " + evidence;
    });
    if (!evidence.empty()) return Answer::violated(evidence);
    return all && whole ? Answer::held() : Answer::undecided("the tree was not walked whole");
  }

 private:
  static std::string text_of(std::span<const Token> tuple) {
    std::string text = "(";
    for (const Token x : tuple) text += (text.size() > 1 ? " " : "") + std::to_string(x);
    return text + ")";
  }
  static std::string fault(const Rows<Rational>& rows, std::span<const Token> tuple, Token x, int accepted) {
    if (!(rows.target(x) > 0)) return "emits " + std::to_string(x) + ", which the target cannot";
    if (accepted < 0) return {};
    if (accepted >= static_cast<int>(tuple.size())) return "accepts draft " + std::to_string(accepted) + " of none";
    if (tuple[static_cast<std::size_t>(accepted)] == x) return {};
    return "accepts draft " + std::to_string(accepted) + " and emits " + std::to_string(x);
  }
};

}  // namespace draftproof::checks
