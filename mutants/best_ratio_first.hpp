// Mutant: recursive rejection of drafts from different proposals that next tests the draft whose token has the
// greatest ratio of residual to proposal.
//
//   q_k      at.proposal(x, k)   law of draft k
//   F r      refusals.left(x)    residual, not normalised
//
// Source: a possible slip of any verifier with several draft models, whose order is free only as long as it does not
// depend on the tokens; rule of arXiv:2305.09781.
// Error: a draft that comes first because of its token does not have law q_k.
// Hidden: at K = 1 and where all proposals equal p; identical proposals alone do not hide it.
#pragma once

#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/rejection/residual_chain.hpp>

namespace draftproof::mutants {

struct BestRatioFirst {
  static constexpr Info info{.name = "best_ratio_first",
                             .summary = "recursive rejection that tests the draft of the best ratio first",
                             .source = "order made from the drafted tokens; rule of arXiv:2305.09781",
                             .drafts = DraftLaws{"independent"},
                             .derived_from = "recursive_rejection_independent"};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    Refusals<P> refusals(at);
    Token tested[max_drafts];
    while (refusals.count() < at.drafts()) {
      const int n = refusals.count();
      int best = none_accepted;
      for (int k = 0; k < at.drafts(); ++k)
        if (!among(k, tested, n) && (best < 0 || better(at, refusals, k, best))) best = k;
      tested[n] = best;
      const Token x = at.draft(best);
      if (random.flip(refusals.left(x), refusals.mass() * at.proposal(x, best))) return accepted(x, best);
      if (!refusals.refuse(best)) return accepted(x, best);
    }
    return refusals.emit(random);
  }

 private:
  template <class P>
  DRAFTPROOF_DEVICE static bool better(const P& at, const Refusals<P>& refusals, int j, int k) {
    const Token x = at.draft(j), y = at.draft(k);
    return refusals.left(x) * at.proposal(y, k) > refusals.left(y) * at.proposal(x, j);
  }
};

}  // namespace draftproof::mutants
