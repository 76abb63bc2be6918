// A scheme that claims it never accepts less when it is given one draft more.
#pragma once

#include <draftproof/properties/proof/property.hpp>

namespace draftproof::checks {

struct MoreDrafts {
  static constexpr std::string_view name = "more_drafts";
  static constexpr std::string_view about = "acceptance with K drafts is at least that with K - 1";
  static constexpr int every = 4;

  static bool applies(const AnyVerifier& verifier, const AnyDrafter&) {
    return verifier.info().claims.more_drafts_never_hurt;
  }
  static Answer check(InstanceAnalysis& at) {
    Instance fewer = at.instance();
    if (--fewer.drafts == 0) return Answer::not_applicable();
    if (fewer.proposals.size() > 1) fewer.proposals.pop_back();
    if (!InstanceAnalysis::possible(at.verifier(), at.drafter(), fewer)) return Answer::not_applicable();
    const auto law = at.law_of(fewer);
    if (!law.complete || !at.law().complete) return Answer::undecided("the tree was not walked whole");
    return Answer::held_if(law.membership <= at.law().membership, [&] {
      return "accepts " + to_text(at.law().membership) + ", with one draft fewer " + to_text(law.membership);
    });
  }
};

}  // namespace draftproof::checks
