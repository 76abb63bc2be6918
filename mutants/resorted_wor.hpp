// Drafts without replacement sorted by q before recursive rejection without replacement sees them.
//
// Source: tree builders that rank nodes. Wrong because the draw order carries the law. Hidden at K = 1.
#pragma once

#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/recursive_rejection_wor.hpp>

namespace draftproof::mutants {

struct ResortedWor {
  static constexpr Info info{.name = "resorted_wor",
                             .summary = "recursive rejection of drafts without replacement sorted by q",
                             .source = "slip of tree builders; rule of arXiv:2402.14160",
                             .drafts = DraftLaws{"without_replacement"}};

  /// Whether token a belongs behind token b.
  template <class P>
  DRAFTPROOF_DEVICE static bool after(const P& at, Token a, Token b) {
    return at.proposal(a) < at.proposal(b) || (at.proposal(a) == at.proposal(b) && a > b);
  }
  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    Token sorted[max_drafts];
    for (int k = 0; k < at.drafts(); ++k) {
      int i = k;
      for (; i > 0 && after(at, sorted[i - 1], at.draft(k)); --i) sorted[i] = sorted[i - 1];
      sorted[i] = at.draft(k);
    }
    const At<typename P::Underlying> resorted(at.laws(), sorted, at.drafts());
    const Verdict verdict = verifiers::RecursiveRejectionWor{}.verify(resorted, random);
    return verdict.accepted >= 0 ? accepted(verdict.token, find_draft(at, verdict.token)) : verdict;
  }
};

}  // namespace draftproof::mutants
