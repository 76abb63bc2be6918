// Properties of the acceptance probability.
#pragma once

#include <algorithm>

#include <draftproof/properties/proof/property.hpp>

namespace draftproof::checks {

// No lossless verifier accepts more often than the optimum of its draft sampling, and the verifier's count of
// accepted drafts (`draft_accepted`) never exceeds the emitted tokens that are among the drafts (`draft_emitted`).
struct AcceptanceBounds {
  static constexpr std::string_view name = "acceptance_bounds";
  static constexpr std::string_view about =
      "accepted (verifier's count) <= accepted (any draft emitted) <= optimum of the draft sampling";
  static constexpr int every = 1;

  static bool applies(const AnyVerifier& verifier, const AnyDrafter&) {
    return verifier.info().promise == Promise::lossless;
  }
  static Answer check(InstanceAnalysis& at) {
    const auto& distribution = at.distribution();
    if (!distribution.complete) return Answer::undecided("the enumeration reached its limit");
    const Rational optimum = at.optimum();
    const bool equal = !at.verifier().info().claims.emitted_drafts_are_accepted ||
                       distribution.draft_accepted == distribution.draft_emitted;
    return Answer::passed_if(distribution.draft_accepted >= 0 &&
                                 distribution.draft_accepted <= distribution.draft_emitted &&
                                 distribution.draft_emitted <= optimum && equal,
                             [&] {
                               return "accepted " + to_text(distribution.draft_accepted) + " (verifier's count), " +
                                      to_text(distribution.draft_emitted) + " (any draft emitted), optimum " +
                                      to_text(optimum) + (equal ? "" : "; the scheme claims equality");
                             });
  }
};

// Schemes with the claim `more_drafts_never_hurt` accept at least as often with one more draft.
struct MoreDrafts {
  static constexpr std::string_view name = "more_drafts";
  static constexpr std::string_view about = "acceptance does not fall from K - 1 to K drafts";
  static constexpr int every = 4;

  static bool applies(const AnyVerifier& verifier, const AnyDrafter&) {
    return verifier.info().claims.more_drafts_never_hurt;
  }
  static Answer check(InstanceAnalysis& at) {
    Instance fewer = at.instance();
    if (--fewer.drafts == 0) return Answer::not_applicable();
    if (fewer.proposals.size() > 1) fewer.proposals.pop_back();
    if (!InstanceAnalysis::possible(at.verifier(), at.drafter(), fewer)) return Answer::not_applicable();
    const auto distribution = at.distribution_of(fewer);
    if (!distribution.complete || !at.distribution().complete)
      return Answer::undecided("the enumeration reached its limit");
    return Answer::passed_if(distribution.draft_emitted <= at.distribution().draft_emitted, [&] {
      return "accepts " + to_text(at.distribution().draft_emitted) + ", with one draft fewer " +
             to_text(distribution.draft_emitted);
    });
  }
};

// Schemes with the claim `one_draft_is_single_draft` accept as often as single-draft sampling at K = 1.
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
    const auto distribution = at.distribution_of(one);
    if (!distribution.complete) return Answer::undecided("the enumeration reached its limit");
    const auto p = normalised(one.target), q = normalised(one.proposals.front());
    Rational overlap = 0;
    for (std::size_t x = 0; x < p.size(); ++x) overlap += std::min(p[x], q[x]);
    return Answer::passed_if(distribution.draft_accepted == overlap, [&] {
      return "at K = 1 accepts " + to_text(distribution.draft_accepted) + ", single draft " + to_text(overlap);
    });
  }
};

// A scheme that promises the target up to tau has an output within total variation tau of p, compared as fractions.
struct WithinTau {
  static constexpr std::string_view name = "within_tau";
  static constexpr std::string_view about =
      "where promised: the output distribution is within tau of p in total variation";
  static constexpr int every = 1;

  static bool applies(const AnyVerifier& verifier, const AnyDrafter&) {
    return verifier.info().promise == Promise::lossless_up_to;
  }
  static Answer check(InstanceAnalysis& at) {
    const auto& distribution = at.distribution();
    if (!distribution.complete) return Answer::undecided("the enumeration reached its limit");
    const Rational distance = total_variation(distribution.output, normalised(at.instance().target));
    return Answer::passed_if(distribution.mass == 1 && distance <= Rational(at.verifier().info().tau), [&] {
      return "TV " + std::to_string(static_cast<double>(distance)) + ", promised " +
             std::to_string(at.verifier().info().tau);
    });
  }
};

// If p and q share no token and drafts are in the support of q, nothing can be accepted and the output is p.
struct DisjointSupports {
  static constexpr std::string_view name = "disjoint_supports";
  static constexpr std::string_view about =
      "p and q with disjoint supports: acceptance is 0, and the output distribution is still p";
  static constexpr int every = 4;

  static bool applies(const AnyVerifier& verifier, const AnyDrafter& drafter) {
    return verifier.info().promise == Promise::lossless && !drafter.info().needs_k_tokens;
  }
  static Answer check(InstanceAnalysis& at) {
    Instance apart = at.instance();
    for (std::size_t x = 0; x < apart.target.size(); ++x)
      for (auto& row : apart.proposals) (x % 2 ? row[x] : apart.target[x]) = 0;
    if (!apart.valid()) return Answer::not_applicable();
    const auto distribution = at.distribution_of(apart);
    if (!distribution.complete) return Answer::undecided("the enumeration reached its limit");
    return Answer::passed_if(distribution.draft_emitted == 0 && distribution.output == normalised(apart.target), [&] {
      return "on " + apart.text() + " accepts " + to_text(distribution.draft_emitted) + ", output " +
             to_text(distribution.output);
    });
  }
};

}  // namespace draftproof::checks
