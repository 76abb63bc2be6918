// Accepts a draft that is among the most probable tokens of p and whose probability is within a difference of the
// largest; otherwise emits the most probable token. Lossy by design: no random number is read, so the output is a
// relaxed argmax of p, not a sample of p. q is not read.
//
//   p_1      target(plan.first)    largest target probability, of the token with the lowest id
//   delta    relaxed_delta         a difference of probabilities; 0: only the most probable tokens pass
//   n        relaxed_topk          number of tokens that can pass
//
// A token with p = 0 never passes. In the source no such token occurs, because its softmax is not filtered.
//
// Cost: at most n + 1 passes once, then O(1) per trial.
// Source: TensorRT-LLM, MTPDecodingConfig `use_relaxed_acceptance_for_thinking`, kernel mtpRelaxedAcceptanceKernel.
// TensorRT-LLM sets delta to 0 outside the reasoning of an answer.
#pragma once

#include <draftproof/sim/verifier.hpp>

namespace draftproof::verifiers::lossy {

/// Whether x is before y in the order of tokens by falling target probability, ties to the lower id.
template <class L>
DRAFTPROOF_DEVICE bool likelier(const L& distributions, Token x, Token y) {
  return distributions.target(x) > distributions.target(y) ||
         (distributions.target(x) == distributions.target(y) && x < y);
}

/// Returns the token after `last` in the order of likelier(): the first token if `last` is no_token, and no_token after
/// the last token.
template <Distributions L>
DRAFTPROOF_DEVICE Token next_likeliest(const L& distributions, Token last = no_token) {
  Token best = no_token;
  for (Token x = 0; x < distributions.vocabulary(); ++x)
    if ((last == no_token || likelier(distributions, last, x)) &&
        (best == no_token || likelier(distributions, x, best)))
      best = x;
  return best;
}

struct RelaxedAcceptance {
  static constexpr Info info{.name = "relaxed_acceptance",
                             .summary = "take a draft near the most probable token of p, else that token",
                             .source = "TensorRT-LLM, relaxed acceptance of MTP",
                             .drafts = DraftSamplings{"iid"},
                             .promise = Promise::lossy,
                             .most_drafts = 1,
                             .ranks_tokens = true,
                             .derived_from = "single_draft"};

  int relaxed_topk = 10;
  double relaxed_delta = 0.6;

  struct Plan {
    Token first, last;  ///< the first and the last token that pass, in the order of next_likeliest()
  };

  template <Distributions L>
  DRAFTPROOF_DEVICE Plan prepare(const L& distributions, int) const {
    using Scalar = typename L::Scalar;
    const Token first = next_likeliest(distributions);
    const Scalar least = distributions.target(first) - Scalar(relaxed_delta);
    Token last = first;
    for (int n = 1; n < relaxed_topk; ++n) {
      const Token next = next_likeliest(distributions, last);
      if (next == no_token || distributions.target(next) < least ||
          !(distributions.target(next) > distributions.zero()))
        break;
      last = next;
    }
    return {first, last};
  }

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, const Plan& plan, R&) const {
    const Token x = at.draft(0);
    if (!likelier(at, plan.last, x)) return accepted(x, 0);
    return {plan.first, none_accepted};
  }
};

}  // namespace draftproof::verifiers::lossy
