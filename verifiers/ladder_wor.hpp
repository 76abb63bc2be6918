// The ladder for drafts without replacement: selects one of K drafts such that its distribution is the best possible
// for any selection, then verifies it as a single draft. The scheme is optimal if bins are single tokens.
//
//   bins, c_i, p_I     as in ladder.hpp; F_i, the probability that some draft is in the first i bins, replaces
//                      1 - (1 - s)^K
//
// Selection: the group that holds the highest drafted p / q is taken, as in ladder.hpp; the choice among its drafts
// depends on their draw order (ladder/group_choice.hpp).
// If q has fewer than K tokens, drafts that continue uniformly have another plan (ladder/uniform_rest.hpp).
// Cost: one plan per (p, q, K), O(V K M) for K > 2 with M nodes of an integral (ladder/race_bins.hpp), less in
// buckets (ladder/coverage.hpp); then O(K) per trial, and in some trials a few draws of q.
// Source: derived here (docs/ladder.md, "Without replacement"); the optimum is the optimum of Hu et al.,
// arXiv:2502.18779.
// Correctness: the choice has distribution q on the group, so p_I is the distribution of the selected draft for any
// levels. On fresh rows the masses of buckets are sums in units of 2^-60: if K - 1 tokens have all mass of q except
// r, p_I is off by at most V 2^-60 / r.
#pragma once

#include <algorithm>
#include <optional>

#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/ladder.hpp>
#include <draftproof/verifiers/ladder/coverage.hpp>
#include <draftproof/verifiers/ladder/group_choice.hpp>
#include <draftproof/verifiers/ladder/team_race.hpp>
#include <draftproof/verifiers/ladder/uniform_rest.hpp>

namespace draftproof::verifiers {

/// The ladder without replacement. `Choice` chooses among the drafts of a group; mutants have wrong choices.
template <class Choice>
struct LadderWorBy {
  /// Makes the coverage of drafts without replacement (ladder/coverage.hpp).
  template <class Scalar>
  struct Distinct {
    int drafts;
    template <class L, class Bins>
    DRAFTPROOF_DEVICE auto operator()(const L& distributions, const Bins& bins) const {
      if constexpr (PlannedByTeam<L>)
        return TeamWorCoverage<L, Bins>(distributions, bins, drafts);
      else
        return WorCoverage<Scalar>(distributions, bins, drafts);
    }
  };

  /// Bytes of shared memory that a team of device threads needs to make the plan together.
  static constexpr std::size_t team_bytes = ladder_wor_team_bytes<std::uint16_t>();

  /// The plan for drafts of q and, if q has fewer than K tokens, `rest` for drafts that continue uniformly.
  template <class L>
  struct Plan : Ladder::Plan<L> {
    Plan(const L& distributions, int drafts) : Ladder::Plan<L>(distributions, Distinct<typename L::Scalar>{drafts}) {
      const int most = std::min(drafts, distributions.vocabulary());
      Token likeliest[max_drafts];
      for (int k = 0; k < most; ++k) likeliest[k] = distributions.kth_most_probable(k);
      if (const int n = support_among(distributions, likeliest, most); n < most)
        rest.emplace(distributions, likeliest, n, most - n);
    }
    std::optional<UniformRest<L>> rest;
  };
  /// The plan on fresh rows does not have `rest`; a decision that needs `rest` makes it.
  template <FreshDistributions L>
  struct Plan<L> : Ladder::Plan<L> {
    DRAFTPROOF_DEVICE Plan(const L& distributions, int drafts)
        : Ladder::Plan<L>(distributions, Distinct<typename L::Scalar>{drafts}) {}
  };

  template <Distributions L>
  DRAFTPROOF_DEVICE Plan<L> prepare(const L& distributions, int drafts) const {
    return {distributions, drafts};
  }

  template <Position P, class Made, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, const Made& plan, R& random) const {
    using L = typename P::Underlying;
    if (const int used = support_among(at, at.draft_data(), at.drafts()); used < at.drafts()) {
      const int drafts = at.drafts() - used;
      if constexpr (requires { plan.rest; })
        if (plan.rest && plan.rest->drafts() == drafts) return plan.rest->verify(at, used, random);
      return UniformRest<L>(at.distributions(), at.draft_data(), used, drafts).verify(at, used, random);
    }
    return Ladder::verify_selected(at, plan, choose_distinct(at, plan.core(), random, Choice{}), random);
  }

 private:
  /// Returns the number of tokens after which q has run out, or n if q has not run out. `tokens` are n distinct tokens;
  /// tokens in q's support precede all others. Drafters use the same masses to determine when q has run out.
  template <class L>
  DRAFTPROOF_DEVICE static int support_among(const L& distributions, const Token* tokens, int n) {
    // A token with a mass far above any rounding was drawn from q, and so were the tokens before it.
    if (n == 0 || distributions.proposal(tokens[n - 1]) > typename L::Scalar(0x1p-40)) return n;
    for (int k = 1; k < n; ++k)
      if (!(distributions.mass_without(0, tokens, k) > distributions.zero())) return k;
    return n;
  }
};

struct LadderWor : LadderWorBy<DistinctChoice> {
  static constexpr Info info{
      .name = "ladder_wor",
      .summary = "select one draft without replacement by levels between bins of p/q, then accept or correct it",
      .source = "derived here, docs/ladder.md; optimum as in Hu et al. 2025, arXiv:2502.18779",
      .drafts = DraftSamplings{"without_replacement", "without_replacement_uniform"},
      .claims = {.accepts_equal_distributions = true,
                 .one_draft_is_single_draft = true,
                 .emitted_drafts_are_accepted = true},
      .unsupported = {.device_trials = "the plan of a table owns memory of the host"},
      .ranks_tokens = true};
};

}  // namespace draftproof::verifiers
