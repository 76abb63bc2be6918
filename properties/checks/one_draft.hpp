// With one draft every scheme that claims it accepts exactly as often as single-draft sampling.
#pragma once

#include <algorithm>

#include <draftproof/properties/proof/property.hpp>

namespace draftproof::checks {

struct OneDraft {
  static constexpr std::string_view name = "one_draft";
  static constexpr std::string_view about = "K = 1: acceptance is sum min(p, q)";
  static constexpr int every = 4;

  static bool applies(const AnyVerifier& verifier, const AnyDrafter& drafter) {
    return verifier.info().claims.one_draft_is_single_draft && !drafter.info().ranks_tokens;
  }
  static Answer check(InstanceAnalysis& at) {
    Instance one = at.instance();
    one.drafts = 1;
    one.proposals.resize(1);
    const auto law = at.law_of(one);
    if (!law.complete) return Answer::undecided("the tree was not walked whole");
    const auto p = normalised(one.target), q = normalised(one.proposals.front());
    Rational overlap = 0;
    for (std::size_t x = 0; x < p.size(); ++x) overlap += std::min(p[x], q[x]);
    return Answer::held_if(law.flag == overlap, [&] {
      return "at K = 1 accepts " + to_text(law.flag) + ", single draft " + to_text(overlap);
    });
  }
};

}  // namespace draftproof::checks
