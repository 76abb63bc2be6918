// Mutants: drafts verified with a row that they were not drawn from. `Hidden` says where a bug does not show.
#pragma once

#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/rejection/residual_chain.hpp>

namespace draftproof::mutants {

// Mutant: recursive rejection of drafts from different proposals that tests each draft against the proposal of
// another draft, because the rows are received in reverse order.
//
//   q_k      at.proposal(x, k)   distribution of draft k
//   F r      refusals.left(x)    residual, not normalised
//
// Source: rows of q gathered in another order than the drafts, as in NVIDIA/TensorRT-LLM#12588; rule of
// arXiv:2305.09781.
// Error: a draft is tested against a distribution from which it was not drawn.
// Hidden: at K = 1 and with identical proposals.

namespace detail {

/// Recursive rejection in draw order that tests draft k against proposal Pairing::row(k, K).
template <class Pairing>
struct Mispaired {
  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    Refusals<P> refusals(at);
    for (int k = 0; k < at.drafts(); ++k) {
      const int row = Pairing::row(k, at.drafts());
      const Token x = at.draft(k);
      // The assumed proposal may be 0 at the draft: then u * 0 < r decides, as in an engine.
      const auto served = refusals.mass() * at.proposal(x, row);
      if (served > at.zero() ? random.flip(refusals.left(x), served) : refusals.left(x) > at.zero())
        return accepted(x, k);
      // Because the assumed distribution is wrong, a refusal can leave no residual; the token is then drawn from p.
      if (!refusals.refuse(row)) return random.emit(at.residual(at.zero()));
    }
    return refusals.emit(random);
  }
};

struct ReversedRows {
  DRAFTPROOF_DEVICE static int row(int k, int drafts) { return drafts - 1 - k; }
};

}  // namespace detail

struct CrossedProposals : detail::Mispaired<detail::ReversedRows> {
  static constexpr Info info{.name = "crossed_proposals",
                             .summary = "recursive rejection with every draft tested against another's proposal",
                             .source = "row offsets as in NVIDIA/TensorRT-LLM#12588; rule of arXiv:2305.09781",
                             .drafts = DraftSamplings{"independent"},
                             .derived_from = "recursive_rejection_independent"};
};

// Mutant: drafts of different proposals, verified as if all had been drawn from the first.
//
// Source: a verifier that keeps one row of q for all draft models; rule of arXiv:2305.09781.
// Error: later drafts are tested against a distribution from which they were not drawn.
// Hidden: at K = 1 and with identical proposals.

namespace detail {

struct FirstRow {
  DRAFTPROOF_DEVICE static int row(int, int) { return 0; }
};

}  // namespace detail

struct IndependentVerifiedAsIid : detail::Mispaired<detail::FirstRow> {
  static constexpr Info info{.name = "independent_verified_as_iid",
                             .summary = "drafts of different proposals all tested against the first proposal",
                             .source = "one row of q kept for all draft models; rule of arXiv:2305.09781",
                             .drafts = DraftSamplings{"independent"},
                             .derived_from = "recursive_rejection_independent"};
};

// Mutant: drafts come from q; the verifier gets q with its entries in reversed order and is correct for that
// distribution. A draft whose entry in the reversed q is 0 is accepted whenever p > 0, because u * 0 < p.
//
//   p        at.target(x)               target probability of token x
//   q        at.proposal(x)             probability the draft was drawn with
//   q'       at.proposal(V - 1 - x)     proposal that the verifier assumes
//
// Cost: one flip, a pass after a refusal.
// Source: transformers 5.23.0, assistants with their own vocabulary, where the tokens have the order of a hash table
// (docs/findings/engine-transformers-other-tokenizer.md).
// Error: accepted drafts emit min(p, q') q / q', not min(p, q').
// Hidden: where q is the same in reversed order.

struct ProposalRowPermuted {
  static constexpr Info info{.name = "proposal_row_permuted",
                             .summary = "drafts of q verified with the numbers of q in reversed order",
                             .source = "huggingface/transformers 5.23.0; rule of arXiv:2211.17192",
                             .drafts = DraftSamplings{"iid"},
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
    // A draft with p = 0 and assumed proposal 0 is refused even if the rows are equal; the token is then drawn from p.
    if (at.sum(left) > at.zero()) return random.emit(at.weights(left));
    return random.emit(at.residual(at.zero()));
  }
};

// Mutant: drafts come from q; the verifier gets q at another temperature, q^(1/T) normalised with T = 1/2, and is
// correct for that distribution.
//
//   p        at.target(x)     target probability of token x
//   q        at.proposal(x)   probability the draft was drawn with
//   q'       q q / S          proposal that the verifier assumes; S is the sum of q^2
//
// Cost: a pass for S, one flip, a pass after a refusal.
// Source: the family of vllm-project/vllm#9834, where a distribution was computed at another temperature than the
// request's.
// Error: accepted drafts emit min(p, q') q / q', not min(p, q'). Hidden: where q is flat on its support.

struct TemperatureMismatch {
  static constexpr Info info{.name = "temperature_mismatch",
                             .summary = "drafts of q verified as if drawn from q at temperature 1/2",
                             .source = "family of vllm-project/vllm#9834; rule of arXiv:2211.17192",
                             .drafts = DraftSamplings{"iid"},
                             .most_drafts = 1,
                             .derived_from = "single_draft"};

  template <Distributions L>
  DRAFTPROOF_DEVICE typename L::Scalar prepare(const L& distributions, int) const {
    return distributions.sum(
        [&distributions](Token x) { return distributions.proposal(x) * distributions.proposal(x); });
  }

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, const typename P::Scalar& squares, R& random) const {
    using Scalar = typename P::Scalar;
    const auto left = [&at, squares](Token x) -> Scalar {  // S (p - q')
      const Scalar weight = at.target(x) * squares - at.proposal(x) * at.proposal(x);
      return weight > at.zero() ? weight : at.zero();
    };
    const Token x = at.draft(0);
    if (random.flip(at.target(x) * squares, at.proposal(x) * at.proposal(x))) return accepted(x, 0);
    return last_draw(at, random, at.weights(left));
  }
};

// Mutant: drafts come from the whole q; the verifier gets q cut to its two likeliest tokens and normalised, and is
// correct for that distribution. A draft outside the two tokens is accepted whenever its p > 0, because u * 0 < p.
//
//   p        at.target(x)     target probability of token x
//   q        at.proposal(x)   probability the draft was drawn with
//   q'       -                q / kept on the likeliest tokens, 0 elsewhere: the proposal that the verifier assumes
//
// Cost: one flip, a pass after a refusal.
// Source: the mirror image of huggingface/transformers#47932, where drafts came from the cut distribution and the
// verifier had the whole distribution.
// Error: the mass of tokens outside the cut is emitted twice, by accepted drafts and by the residual.
// Hidden: where q has no more tokens than the cut keeps.

struct TruncatedProposal {
  static constexpr Info info{.name = "truncated_proposal",
                             .summary = "drafts of q verified as if drawn from the two likeliest tokens of q",
                             .source = "mirror image of huggingface/transformers#47932; rule of arXiv:2211.17192",
                             .drafts = DraftSamplings{"iid"},
                             .most_drafts = 1,
                             .derived_from = "single_draft"};

  /// The two likeliest tokens of q; the same token twice if V = 1.
  template <class Scalar>
  struct Cut {
    Token first, second;
    Scalar kept;

    DRAFTPROOF_DEVICE bool has(Token x) const { return x == first || x == second; }
  };

  template <Distributions L>
  DRAFTPROOF_DEVICE Cut<typename L::Scalar> prepare(const L& distributions, int) const {
    const Token first = distributions.kth_most_probable(0),
                second = distributions.vocabulary() > 1 ? distributions.kth_most_probable(1) : first;
    if (first == second) return {first, second, distributions.proposal(first)};
    return {first, second, distributions.proposal(first) + distributions.proposal(second)};
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
    // A draft with p = 0 and assumed proposal 0 is refused even if the rows are equal; the token is then drawn from p.
    if (at.sum(left) > at.zero()) return random.emit(at.weights(left));
    return random.emit(at.residual(at.zero()));
  }
};

}  // namespace draftproof::mutants
