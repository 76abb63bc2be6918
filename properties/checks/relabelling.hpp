// Token ids are names: permuting them permutes the output law and leaves acceptance alone.
#pragma once

#include <algorithm>

#include <draftproof/properties/proof/property.hpp>

namespace draftproof::checks {

struct Relabelling {
  static constexpr std::string_view name = "relabelling";
  static constexpr std::string_view about = "reversing the token ids reverses the law";
  static constexpr int every = 4;

  /// Laws that rank tokens break ties by id, so there ids matter.
  /// A scheme that is lossy by design may hang on ids; a lossless one has law p whatever it ranks.
  static bool applies(const AnyVerifier& verifier, const AnyDrafter& drafter) {
    return !drafter.info().ranks_tokens &&
           !(verifier.info().ranks_tokens && verifier.info().promise == Promise::lossy);
  }
  static Answer check(InstanceAnalysis& at) {
    Instance reversed = at.instance();
    std::reverse(reversed.target.begin(), reversed.target.end());
    for (auto& row : reversed.proposals) std::reverse(row.begin(), row.end());
    auto law = at.law_of(reversed);
    if (!law.complete || !at.law().complete) return Answer::undecided("the tree was not walked whole");
    std::reverse(law.output.begin(), law.output.end());
    return Answer::held_if(law.output == at.law().output && law.membership == at.law().membership, [&] {
      return "got " + to_text(at.law().output) + ", with reversed ids " + to_text(law.output);
    });
  }
};

}  // namespace draftproof::checks
