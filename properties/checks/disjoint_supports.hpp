// Where p and q share no token and drafts stay inside the support of q, nothing can be accepted and the output is p.
#pragma once

#include <draftproof/properties/proof/property.hpp>

namespace draftproof::checks {

struct DisjointSupports {
  static constexpr std::string_view name = "disjoint_supports";
  static constexpr std::string_view about = "p q = 0 everywhere: acceptance 0, and the output law is still p";
  static constexpr int every = 4;

  static bool applies(const AnyVerifier& verifier, const AnyDrafter& drafter) {
    return verifier.info().promise == Promise::lossless && !drafter.info().needs_k_tokens;
  }
  static Answer check(InstanceAnalysis& at) {
    Instance apart = at.instance();
    for (std::size_t x = 0; x < apart.target.size(); ++x)
      for (auto& row : apart.proposals) (x % 2 ? row[x] : apart.target[x]) = 0;
    if (!apart.valid()) return Answer::not_applicable();
    const auto law = at.law_of(apart);
    if (!law.complete) return Answer::undecided("the tree was not walked whole");
    return Answer::held_if(law.membership == 0 && law.output == normalised(apart.target), [&] {
      return "on " + apart.text() + " accepts " + to_text(law.membership) + ", output " + to_text(law.output);
    });
  }
};

}  // namespace draftproof::checks
