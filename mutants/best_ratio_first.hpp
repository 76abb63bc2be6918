// Recursive rejection of drafts from different proposals; the next draft to test is the one whose token has the best
// ratio of what is left to its proposal.
//
//   q_k      at.proposal(x, k)   law of draft k
//   F r      refusals.left(x)    what is left to serve, not normalised
//
// Source: a slip waiting in any verifier with several draft models, whose order is free only as long as it does not
// look at the tokens; rule of arXiv:2305.09781. Wrong because a draft that comes first for what it is no longer has
// law q_k. Hidden at K = 1 and where all proposals equal p; identical proposals alone do not hide it.
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
