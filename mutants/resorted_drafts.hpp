// I.i.d. drafts sorted by q before recursive rejection sees them.
//
// Source: tree builders that rank nodes. Wrong because the first of the sorted drafts no longer has law q, though
// acceptance stays plausible. Hidden at K = 1.
#pragma once

#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/recursive_rejection.hpp>

namespace draftproof::mutants {

/// A verifier that sees its drafts sorted by q.
template <class Verifier>
struct Resorted {
  template <Laws L>
  DRAFTPROOF_DEVICE auto prepare(const L& laws, int drafts) const {
    return draftproof::prepare(Verifier{}, laws, drafts);
  }

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, const PlanOf<Verifier, typename P::Underlying>& plan,
                                   R& random) const {
    Token sorted[max_drafts];
    for (int k = 0; k < at.drafts(); ++k) {
      int i = k;
      for (; i > 0 && after(at, sorted[i - 1], at.draft(k)); --i) sorted[i] = sorted[i - 1];
      sorted[i] = at.draft(k);
    }
    const At<typename P::Underlying> resorted(at.laws(), sorted, at.drafts());
    const Verdict verdict = draftproof::verify(Verifier{}, resorted, plan, random);
    return verdict.accepted >= 0 ? accepted(verdict.token, find_draft(at, verdict.token)) : verdict;
  }

 private:
  /// Whether token a belongs behind token b; ties go to the lower id.
  template <class P>
  DRAFTPROOF_DEVICE static bool after(const P& at, Token a, Token b) {
    return at.proposal(a) < at.proposal(b) || (at.proposal(a) == at.proposal(b) && a > b);
  }
};

struct ResortedDrafts : Resorted<verifiers::RecursiveRejection> {
  static constexpr Info info{.name = "resorted_drafts",
                             .summary = "recursive rejection of i.i.d. drafts sorted by q",
                             .source = "slip of tree builders; rule of arXiv:2305.09781",
                             .drafts = DraftLaws{"iid"}};
};

}  // namespace draftproof::mutants
