// Mutant: recursive rejection of drafts from different proposals that tests each draft against the proposal of
// another one: the rows arrive in reverse order.
//
//   q_k      at.proposal(x, k)   law of draft k
//   F r      refusals.left(x)    residual, not normalised
//
// Source: rows of q gathered in another order than the drafts, as in NVIDIA/TensorRT-LLM#12588; rule of
// arXiv:2305.09781.
// Error: a draft is tested against a law it was not drawn from.
// Hidden: at K = 1 and with identical proposals.
#pragma once

#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/rejection/residual_chain.hpp>

namespace draftproof::mutants {

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
      // With a wrong law a refusal can leave no residual; the draw is then from p.
      if (!refusals.refuse(row)) return random.emit(at.residual(at.zero()));
    }
    return refusals.emit(random);
  }
};

struct ReversedRows {
  DRAFTPROOF_DEVICE static int row(int k, int drafts) { return drafts - 1 - k; }
};

struct CrossedProposals : Mispaired<ReversedRows> {
  static constexpr Info info{.name = "crossed_proposals",
                             .summary = "recursive rejection with every draft tested against another's proposal",
                             .source = "row offsets as in NVIDIA/TensorRT-LLM#12588; rule of arXiv:2305.09781",
                             .drafts = DraftLaws{"independent"},
                             .derived_from = "recursive_rejection_independent"};
};

}  // namespace draftproof::mutants
