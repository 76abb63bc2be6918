// Mutant: i.i.d. drafts sorted by q before recursive rejection.
//
// Source: tree builders that rank nodes.
// Error: the first of the sorted drafts does not have law q, though acceptance stays plausible.
// Hidden: at K = 1.
#pragma once

#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/recursive_rejection.hpp>

namespace draftproof::mutants {

/// The more probable token of q first; ties go to the lower id.
struct HigherProposal {
  template <class L>
  DRAFTPROOF_DEVICE bool operator()(const L& laws, Token a, Token b) const {
    return laws.proposal(a) > laws.proposal(b) || (laws.proposal(a) == laws.proposal(b) && a < b);
  }
};

/// A verifier that gets its drafts sorted: `Before` is true if its first token precedes its second.
template <class Verifier, class Before = HigherProposal>
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
      for (; i > 0 && Before{}(at.laws(), at.draft(k), sorted[i - 1]); --i) sorted[i] = sorted[i - 1];
      sorted[i] = at.draft(k);
    }
    const DraftedPosition<typename P::Underlying> resorted(at.laws(), sorted, at.drafts());
    const Verdict verdict = draftproof::verify(Verifier{}, resorted, plan, random);
    return verdict.accepted >= 0 ? accepted(verdict.token, find_draft(at, verdict.token)) : verdict;
  }
};

struct ResortedDrafts : Resorted<verifiers::RecursiveRejection> {
  static constexpr Info info{.name = "resorted_drafts",
                             .summary = "recursive rejection of i.i.d. drafts sorted by q",
                             .source = "slip of tree builders; rule of arXiv:2305.09781",
                             .drafts = DraftLaws{"iid"},
                             .derived_from = "recursive_rejection"};
};

}  // namespace draftproof::mutants
