// Mutants: drafts tested in an order that depends on the drafted tokens. `Hidden` says where a bug does not show.
#pragma once

#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/k_seq.hpp>
#include <draftproof/verifiers/recursive_rejection.hpp>
#include <draftproof/verifiers/recursive_rejection_wor.hpp>
#include <draftproof/verifiers/rejection/residual_chain.hpp>

namespace draftproof::mutants {

// Mutant: recursive rejection of drafts from different proposals that next tests the draft whose token has the
// greatest ratio of residual to proposal.
//
//   q_k      at.proposal(x, k)   distribution of draft k
//   F r      refusals.left(x)    residual, not normalised
//
// Source: a possible bug of any verifier with several draft models, whose order is free only as long as it does not
// depend on the tokens; rule of arXiv:2305.09781.
// Error: a draft that comes first because of its token does not have distribution q_k.
// Hidden: at K = 1 and where all proposals equal p; identical proposals alone do not hide it.

struct BestRatioFirst {
  static constexpr Info info{.name = "best_ratio_first",
                             .summary = "recursive rejection that tests the draft of the best ratio first",
                             .source = "order made from the drafted tokens; rule of arXiv:2305.09781",
                             .drafts = DraftSamplings{"independent"},
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

// Mutant: i.i.d. drafts sorted by q before recursive rejection.
//
// Source: tree builders that sort nodes.
// Error: the first of the sorted drafts does not have distribution q, though acceptance stays plausible.
// Hidden: at K = 1.

namespace detail {

/// Returns whether `a` precedes `b` in the order of falling q; ties go to the lower id.
struct HigherProposal {
  template <class L>
  DRAFTPROOF_DEVICE bool operator()(const L& distributions, Token a, Token b) const {
    return distributions.proposal(a) > distributions.proposal(b) ||
           (distributions.proposal(a) == distributions.proposal(b) && a < b);
  }
};

/// A verifier that receives its drafts in sorted order. `Before` returns whether its first argument precedes the
/// second.
template <class Verifier, class Before = HigherProposal>
struct Resorted {
  template <Distributions L>
  DRAFTPROOF_DEVICE auto prepare(const L& distributions, int drafts) const {
    return draftproof::prepare(Verifier{}, distributions, drafts);
  }

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, const PlanOf<Verifier, typename P::Underlying>& plan,
                                   R& random) const {
    Token sorted[max_drafts];
    for (int k = 0; k < at.drafts(); ++k) {
      int i = k;
      for (; i > 0 && Before{}(at.distributions(), at.draft(k), sorted[i - 1]); --i) sorted[i] = sorted[i - 1];
      sorted[i] = at.draft(k);
    }
    const DraftedPosition<typename P::Underlying> resorted(at.distributions(), sorted, at.drafts());
    const Verdict verdict = draftproof::verify(Verifier{}, resorted, plan, random);
    return verdict.accepted >= 0 ? accepted(verdict.token, find_draft(at, verdict.token)) : verdict;
  }
};

}  // namespace detail

struct ResortedDrafts : detail::Resorted<verifiers::RecursiveRejection> {
  static constexpr Info info{.name = "resorted_drafts",
                             .summary = "recursive rejection of i.i.d. drafts sorted by q",
                             .source = "bug of tree builders; rule of arXiv:2305.09781",
                             .drafts = DraftSamplings{"iid"},
                             .derived_from = "recursive_rejection"};
};

// Mutant: i.i.d. drafts sorted by q before K-SEQ.
//
// Source: tree builders that sort nodes.
// Error: K-SEQ takes the first draft that passes, and the first of the sorted drafts does not have distribution q.
// Hidden: at K = 1.
struct ResortedKSeq : detail::Resorted<verifiers::KSeq> {
  static constexpr Info info{.name = "resorted_k_seq",
                             .summary = "K-SEQ of i.i.d. drafts sorted by q",
                             .source = "bug of tree builders; rule of arXiv:2310.15141",
                             .drafts = DraftSamplings{"iid"},
                             .derived_from = "k_seq"};
};

// Mutant: drafts without replacement sorted by q before recursive rejection without replacement.
//
// Source: tree builders that sort nodes.
// Error: the rule needs the draw order.
// Hidden: at K = 1.
struct ResortedWor : detail::Resorted<verifiers::RecursiveRejectionWor> {
  static constexpr Info info{.name = "resorted_wor",
                             .summary = "recursive rejection of drafts without replacement sorted by q",
                             .source = "bug of tree builders; rule of arXiv:2402.14160",
                             .drafts = DraftSamplings{"without_replacement"},
                             .derived_from = "recursive_rejection_wor"};
};

}  // namespace draftproof::mutants
