// Selection policies that decide for each request by its data alone. All are exact, including the policies that read
// drawn tokens; the comment of each policy gives the reason. The symbols are defined in
// sim/components/selection_view.hpp.
#pragma once

#include <algorithm>

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/selection_view.hpp>

namespace draftproof::components::selection {

// Keeps one draft more than the previous step accepted.
//
// Correctness: past acceptance is a function of the text so far and of earlier random numbers.
// Source: adaptive lengths of engines.
struct PastAcceptance : SelectionPolicy {
  static constexpr ComponentInfo info{.name = "past_acceptance",
                                      .summary = "keeps one draft more than the previous step accepted",
                                      .source = "adaptive draft lengths of engines"};
  static constexpr bool reads_past = true;
  static constexpr bool reads_row = false;

  template <class S>
  bool keeps(const DraftedRequest<S>& request, int u) const {
    return request.depth[static_cast<std::size_t>(u)] <= request.accepted + 1;
  }
};

// Keeps drafts from rows whose largest entry is at least one half, whichever token was drawn.
//
// Correctness: a row is known before the draw from it.
// Source: derived here; the mutant is low_probability_stop.
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

// Keeps only the first draft from a sharp row (sharpness above 1/2), no draft from a flat row (sharpness below 2/5),
// and all drafts from any other row. Sharpness is the probability that two draws from the row are equal, which is e^-H
// for the Renyi entropy H of order 2.
//
// Correctness: a row is known before the draw from it, and siblings are kept from the first sibling on.
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

// Ends the drafts where the confidence before the draw is below one half.
//
// Correctness: the confidence before a draft is a function of the drafts before it.
// Source: DSpark, arXiv:2607.05147, with the confidence that is known one position earlier; the mutant is
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

// Ends the drafts after a token x with q(x) below one half; x itself is kept. This is exact, although the policy reads
// drawn tokens, because a token decides about later drafts only.
//
// Correctness: whether a draft is kept is a function of the tokens before it.
// Source: derived here; the mutant is low_probability_stop.
struct StopAfterLowProbability : SelectionPolicy {
  static constexpr ComponentInfo info{.name = "stop_after_low_probability",
                                      .summary = "drafts end after a token with q(x) below one half, which is kept",
                                      .source = "derived here"};
  static constexpr bool reads_row = false;

  template <class S>
  bool keeps(const DraftedRequest<S>& request, int u) const {
    const int before = request.parent[static_cast<std::size_t>(u)];
    return before == 0 || !(S(2) * request.drawn(before) < S(1));
  }
};

// Verifies all drafts, and cuts the output one token after the longest prefix of drafts that all have a confidence of
// at least one half. This is exact, although the confidence after a draft is a function of the drawn token.
//
// Correctness: the token after the last kept draft is emitted too, so whether a token is emitted depends on earlier
// tokens only, and every emitted token is a token of the uncut output.
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

// Keeps drafts that the grammar forbids. This is exact: the row of p is masked, so a forbidden token has p(x) = 0 and
// is rejected, and the correction is drawn from the residual against the unmasked q that the token was drawn from.
//
// Source: derived here; the mutants are illegal_draft_trimmed and illegal_draft_without_row.
struct IllegalDraftsKept : SelectionPolicy {
  static constexpr ComponentInfo info{
      .name = "illegal_drafts_kept",
      .summary = "drafts that the grammar forbids are verified, and p(x) = 0 rejects them",
      .source = "derived here"};
  static constexpr bool reads_row = false;

  template <class S>
  bool keeps(const DraftedRequest<S>&, int) const {
    return true;
  }
};

// Removes drafts from the end of a chain as long as the last draft has q(x) below one half, and then verifies by
// sample-and-match. This is exact, although the policy reads the drawn tokens.
//
// Correctness: the verifier draws its tokens from p independently of the drafts, which decide only how many it draws.
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
