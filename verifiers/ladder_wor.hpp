// The ladder for drafts without replacement: selects one of K drafts such that its law is the best possible for any
// selection, then verifies it as a single draft. Optimal with one token a bin, lossless with any bins.
//
//   bins, c_i, p_I     as in ladder.hpp, with F, the probability that the drafts hit the first bins, for 1 - (1 - s)^K
//
// Selection: the group that holds the highest drafted p / q is taken, as in ladder.hpp; the choice among its drafts
// depends on their draw order (ladder/distinct_choice.hpp).
// Cost: one plan per (p, q, K), O(V K M) for K > 2 with M nodes of an integral (ladder/race_integral.hpp); then O(K)
// a trial and now and then a few draws of q.
// Source: derived here (docs/ladder.md, "Without replacement"). The optimum is that of Hu et al., arXiv:2502.18779.
// Correctness: the choice has law q on the group, so p_I is the law of the selected draft for any levels.
#pragma once

#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/ladder.hpp>
#include <draftproof/verifiers/ladder/distinct_choice.hpp>
#include <draftproof/verifiers/ladder/wor_coverage.hpp>

namespace draftproof::verifiers {

/// The ladder with a choice inside the group taken; mutants have wrong ones.
template <class Choice>
struct LadderWorBy {
  /// Coverage of drafts without replacement.
  template <class Scalar>
  struct Distinct {
    int drafts;
    WorCoverage<Scalar> operator()(const auto& laws, const auto& bins) const { return {laws, bins, drafts}; }
  };

  template <Laws L>
  Ladder::Plan<L> prepare(const L& laws, int drafts) const {
    return {laws, Distinct<typename L::Scalar>{drafts}};
  }

  template <Position P, class Made, RandomSource R>
  Verdict verify(const P& at, const Made& plan, R& random) const {
    const auto& core = plan.core();
    const auto& laws = at.laws();
    const int chosen = choose_distinct(at, core, random, Choice{});
    const Token x = at.draft(chosen);
    if (random.flip(at.target(x), core.selected(laws, x))) return accepted(x, chosen);
    if (!plan.nothing_left) return random.emit(plan.residual);
    // Only by rounding. The drafts can be all tokens, so x may be one that the target does not have.
    return at.target(x) > at.zero() ? accepted(x, chosen) : random.emit(laws.residual(at.zero()));
  }
};

struct LadderWor : LadderWorBy<DistinctChoice> {
  static constexpr Info info{
      .name = "ladder_wor",
      .summary = "select one draft without replacement by levels between bins of p/q, then accept or correct it",
      .source = "derived here, docs/ladder.md; optimum as in Hu et al. 2025, arXiv:2502.18779",
      .drafts = DraftLaws{"without_replacement"},
      .claims = {.accepts_equal_laws = true, .one_draft_is_single_draft = true, .flag_is_membership = true},
      .unsupported = {.device = "its plan integrates a race on the host"}};
};

}  // namespace draftproof::verifiers
