// Selection policies that look at one request: what decides about a draft is known before it is drawn, or the
// verifier does not depend on it. Symbols: sim/components/selection_view.hpp.
#pragma once

#include <algorithm>

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/selection_view.hpp>

namespace draftproof::components::selection {

// One draft more than was accepted one step ago.
//
// Correctness: past acceptance is a function of the text so far and of earlier random numbers.
// Source: adaptive lengths of engines.
struct PastAcceptance : SelectionPolicy {
  static constexpr ComponentInfo info{.name = "past_acceptance",
                                      .summary = "one draft more than the step before accepted",
                                      .source = "adaptive draft lengths of engines"};

  template <class S>
  bool keeps(const DraftedRequest<S>& request, int u) const {
    return request.depth[static_cast<std::size_t>(u)] <= request.accepted + 1;
  }
};

// Drafts from rows with a likely token: the largest entry of the row, whichever token was drawn from it.
//
// Correctness: a row is known before the draw from it.
// Source: derived here; the wrong form is low_probability_stop.
struct RowMaximum : SelectionPolicy {
  static constexpr ComponentInfo info{.name = "row_maximum",
                                      .summary = "drafts end at a row of q whose largest entry is below one half",
                                      .source = "derived here"};

  template <class S>
  bool keeps(const DraftedRequest<S>& request, int u) const {
    const auto row = request.row_before(u);
    return !(S(2) * *std::max_element(row.begin(), row.end()) < S(1));
  }
};

// One child after a sharp row, all children after others, none after a flat one. Sharpness is the probability that
// two draws from the row are equal, the entropy of order two in fractions.
//
// Correctness: a row is known before the draw from it, and of siblings the first ones are kept.
// Source: derived here, after stopping rules by entropy.
struct RowEntropy : SelectionPolicy {
  static constexpr ComponentInfo info{.name = "row_entropy",
                                      .summary = "the entropy of a row of q decides how many of its drafts are kept",
                                      .source = "derived here, after stopping rules by entropy"};

  template <class S>
  bool keeps(const DraftedRequest<S>& request, int u) const {
    S equal(0);
    for (const S& q : request.row_before(u)) equal = equal + q * q;
    if (S(1) < S(2) * equal) return request.rank(u) == 0;
    return !(S(5) * equal < S(2));
  }
};

// Drafts end where the confidence that was known before the draw is low.
//
// Correctness: c before a draft is a function of the drafts before it.
// Source: the prediction of one position later of DSpark, arXiv:2607.05147; the wrong form is
// chosen_token_confidence.
struct ConfidenceBeforeDraft : SelectionPolicy {
  static constexpr ComponentInfo info{.name = "confidence_before_draft",
                                      .summary = "drafts end where the confidence before the draw is below one half",
                                      .source = "DSpark, arXiv:2607.05147"};

  template <class S>
  bool keeps(const DraftedRequest<S>& request, int u) const {
    return !(S(2) * request.confidence_before(u) < S(1));
  }
};

// Ends after a drawn token of low draft probability, which is kept itself. Right, although the rule reads a drawn
// token: it decides about the drafts after it.
//
// Correctness: what decides about a draft is the token before it.
// Source: derived here; the wrong form is low_probability_stop.
struct StopAfterLowProbability : SelectionPolicy {
  static constexpr ComponentInfo info{.name = "stop_after_low_probability",
                                      .summary = "drafts end after a token with q(x) below one half, which is kept",
                                      .source = "derived here"};

  template <class S>
  bool keeps(const DraftedRequest<S>& request, int u) const {
    const int before = request.parent[static_cast<std::size_t>(u)];
    return before == 0 || !(S(2) * request.drawn(before) < S(1));
  }
};

// Verifies all drafts and ends the output with the verifier's own token after the confident ones: the smaller of the
// accepted and of the confident prefix. Right, although confidence is that of the drawn token.
//
// Correctness: the token after the last kept draft is emitted too. So whether a token is emitted depends on earlier
// tokens, and all tokens are those of the whole verification.
// Source: sgl-project/sglang PR 30204.
struct ConfidentCap : SelectionPolicy {
  static constexpr ComponentInfo info{.name = "confident_cap",
                                      .summary = "output ends with the verifier's token after the confident drafts",
                                      .source = "sgl-project/sglang PR 30204"};
  static constexpr SelectionCut cut = SelectionCut::after_with_token;
  static constexpr bool trees = false;

  template <class S>
  bool keeps(const DraftedRequest<S>& request, int u) const {
    return !(S(2) * request.confidence_after(u) < S(1));
  }
};

// Keeps drafts that the grammar forbids. Right, although an illegal token is verified: the row of p is masked, so the
// token has p(x) = 0 and is rejected with the residual against the unmasked q that drew it.
//
// Source: derived here; the wrong forms are illegal_draft_trimmed and illegal_draft_without_row.
struct IllegalDraftsKept : SelectionPolicy {
  static constexpr ComponentInfo info{
      .name = "illegal_drafts_kept",
      .summary = "drafts that the grammar forbids are verified, and p(x) = 0 rejects them",
      .source = "derived here"};

  template <class S>
  bool keeps(const DraftedRequest<S>&, int) const {
    return true;
  }
};

// Drops the last drafts as long as their draft probability is low, before sample-and-match. Right, although it reads
// the drawn tokens themselves.
//
// Correctness: the verifier draws from p without the drafts, and they decide only how many draws a step has.
// Source: derived here, after engines that verify by sampling from the target.
struct LowTailBeforeMatching : SelectionPolicy {
  static constexpr ComponentInfo info{.name = "low_tail_before_matching",
                                      .summary = "drops last drafts of low probability before sample-and-match",
                                      .source = "derived here"};
  static constexpr bool trees = false;
  static constexpr bool matching_alone = true;

  template <class S>
  bool keeps(const DraftedRequest<S>& request, int u) const {
    for (int v = u; v < request.size(); ++v)
      if (!(S(2) * request.drawn(v) < S(1))) return true;
    return false;
  }
};

}  // namespace draftproof::components::selection
