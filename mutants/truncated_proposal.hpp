// Mutant: drafts come from the whole q; the verifier gets q cut to its two likeliest tokens and normalised, and is
// correct for that law. A draft outside the cut is accepted whenever p > 0 there, as u * 0 < p is.
//
//   p        at.target(x)     target probability of token x
//   q        at.proposal(x)   probability the draft was drawn with
//   q'       -                q / kept on the likeliest tokens, 0 elsewhere: the proposal that the verifier assumes
//
// Cost: one flip, a pass after a refusal.
// Source: the mirror image of huggingface/transformers#47932, where drafts came from the cut law and the verifier had
// the whole one.
// Error: tokens outside the cut are served twice, by the draft and by the residual.
// Hidden: where q has no more tokens than the cut keeps.
#pragma once

#include <draftproof/sim/verifier.hpp>

namespace draftproof::mutants {

struct TruncatedProposal {
  static constexpr Info info{.name = "truncated_proposal",
                             .summary = "drafts of q verified as if drawn from the two likeliest tokens of q",
                             .source = "mirror image of huggingface/transformers#47932; rule of arXiv:2211.17192",
                             .drafts = DraftLaws{"iid"},
                             .most_drafts = 1,
                             .derived_from = "single_draft"};

  /// The two likeliest tokens of q; twice the same one if V = 1.
  template <class Scalar>
  struct Cut {
    Token first, second;
    Scalar kept;

    DRAFTPROOF_DEVICE bool has(Token x) const { return x == first || x == second; }
  };

  template <Laws L>
  DRAFTPROOF_DEVICE Cut<typename L::Scalar> prepare(const L& laws, int) const {
    const Token first = laws.kth_most_probable(0), second = laws.vocabulary() > 1 ? laws.kth_most_probable(1) : first;
    if (first == second) return {first, second, laws.proposal(first)};
    return {first, second, laws.proposal(first) + laws.proposal(second)};
  }

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, const Cut<typename P::Scalar>& cut, R& random) const {
    using Scalar = typename P::Scalar;
    const auto left = [&at, cut](Token x) -> Scalar {  // kept (p - q')
      const Scalar weight = at.target(x) * cut.kept - (cut.has(x) ? Scalar(at.proposal(x)) : at.zero());
      return weight > at.zero() ? weight : at.zero();
    };
    const Token x = at.draft(0);
    if (cut.has(x) ? random.flip(at.target(x) * cut.kept, at.proposal(x)) : at.target(x) > at.zero())
      return accepted(x, 0);
    // A draft without p and without assumed proposal is refused even where these two agree; the draw is then from p.
    if (at.sum(left) > at.zero()) return random.emit(at.weights(left));
    return random.emit(at.residual(at.zero()));
  }
};

}  // namespace draftproof::mutants
