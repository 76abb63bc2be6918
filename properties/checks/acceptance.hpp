// Properties of the acceptance probability.
#pragma once

#include <algorithm>

#include <draftproof/properties/proof/property.hpp>

namespace draftproof::checks {

// No lossless verifier accepts more than the optimum of its draft law, and a flag never exceeds membership.
struct AcceptanceBounds {
  static constexpr std::string_view name = "acceptance_bounds";
  static constexpr std::string_view about = "0 <= flag <= membership <= optimum over all cuts of the draft law";
  static constexpr int every = 1;

  static bool applies(const AnyVerifier& verifier, const AnyDrafter&) {
    return verifier.info().promise == Promise::lossless;
  }
  static Answer check(InstanceAnalysis& at) {
    const auto& law = at.law();
    if (!law.complete) return Answer::undecided("the tree was not walked whole");
    const Rational optimum = at.optimum();
    const bool equal = !at.verifier().info().claims.flag_is_membership || law.flag == law.membership;
    return Answer::held_if(law.flag >= 0 && law.flag <= law.membership && law.membership <= optimum && equal, [&] {
      return "flag " + to_text(law.flag) + ", membership " + to_text(law.membership) + ", optimum " +
             to_text(optimum) + (equal ? "" : "; the scheme claims flag = membership");
    });
  }
};

// A scheme that claims it never accepts less when it is given one draft more.
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

// With one draft every scheme that claims it accepts exactly as often as single-draft sampling.
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

// A scheme that promises the target up to tau keeps to it: total variation at most tau, compared as fractions.
struct WithinTau {
  static constexpr std::string_view name = "within_tau";
  static constexpr std::string_view about = "where promised: the output law is within tau of p in total variation";
  static constexpr int every = 1;

  static bool applies(const AnyVerifier& verifier, const AnyDrafter&) {
    return verifier.info().promise == Promise::lossless_up_to;
  }
  static Answer check(InstanceAnalysis& at) {
    const auto& law = at.law();
    if (!law.complete) return Answer::undecided("the tree was not walked whole");
    const Rational distance = total_variation(law.output, normalised(at.instance().target));
    return Answer::held_if(law.mass == 1 && distance <= Rational(at.verifier().info().tau), [&] {
      return "TV " + std::to_string(static_cast<double>(distance)) + ", promised " +
             std::to_string(at.verifier().info().tau);
    });
  }
};

// Where p and q share no token and drafts stay inside the support of q, nothing can be accepted and the output is p.
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
