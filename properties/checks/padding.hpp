// Tokens that neither law can emit change nothing.
#pragma once

#include <draftproof/properties/proof/property.hpp>

namespace draftproof::checks {

struct Padding {
  static constexpr std::string_view name = "padding";
  static constexpr std::string_view about = "appending tokens with p = q = 0 changes nothing";
  static constexpr int every = 4;

  /// Laws defined for K <= V look at the size of the vocabulary.
  static bool applies(const AnyVerifier&, const AnyDrafter& drafter) { return !drafter.info().needs_k_tokens; }
  static Answer check(InstanceAnalysis& at) {
    Instance padded = at.instance();
    padded.target.insert(padded.target.end(), 2, 0);
    for (auto& row : padded.proposals) row.insert(row.end(), 2, 0);
    const auto law = at.law_of(padded);
    if (!law.complete || !at.law().complete) return Answer::undecided("the tree was not walked whole");
    auto expected = at.law().output;
    expected.insert(expected.end(), 2, Rational(0));
    return Answer::held_if(law.output == expected && law.membership == at.law().membership, [&] {
      return "got " + to_text(at.law().output) + ", with two empty tokens " + to_text(law.output);
    });
  }
};

}  // namespace draftproof::checks
