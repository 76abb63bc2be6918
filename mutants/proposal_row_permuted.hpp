// Mutant: drafts come from q; the verifier gets the numbers of q in another order of the tokens, the reversed one, and
// is correct for that law. A draft whose number is 0 there is accepted whenever p > 0, as u * 0 < p is.
//
//   p        at.target(x)               target probability of token x
//   q        at.proposal(x)             probability the draft was drawn with
//   q'       at.proposal(V - 1 - x)     proposal that the verifier assumes
//
// Cost: one flip, a pass after a refusal.
// Source: transformers 5.23.0, assistants with a vocabulary of their own (docs/findings/
// engine-transformers-other-tokenizer.md): the order is that of a hash table there.
// Error: it serves min(p, q') q / q', not min(p, q').
// Hidden: where q reads the same from both ends.
#pragma once

#include <draftproof/sim/verifier.hpp>

namespace draftproof::mutants {

struct ProposalRowPermuted {
  static constexpr Info info{.name = "proposal_row_permuted",
                             .summary = "drafts of q verified with the numbers of q in reversed order",
                             .source = "huggingface/transformers 5.23.0; rule of arXiv:2211.17192",
                             .drafts = DraftLaws{"iid"},
                             .most_drafts = 1,
                             .derived_from = "single_draft"};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    using Scalar = typename P::Scalar;
    const int last = at.vocabulary() - 1;
    const auto left = [&at, last](Token x) -> Scalar {
      const Scalar weight = at.target(x) - at.proposal(last - x);
      return weight > at.zero() ? weight : at.zero();
    };
    const Token x = at.draft(0);
    const Scalar assumed = at.proposal(last - x);
    if (assumed > at.zero() ? random.flip(at.target(x), assumed) : at.target(x) > at.zero()) return accepted(x, 0);
    // A draft without p and without assumed proposal is refused even where these two agree; the draw is then from p.
    if (at.sum(left) > at.zero()) return random.emit(at.weights(left));
    return random.emit(at.residual(at.zero()));
  }
};

}  // namespace draftproof::mutants
