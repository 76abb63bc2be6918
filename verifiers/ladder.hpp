// The ladder: one of K i.i.d. drafts is selected so that its law is the best any selection can have, then treated as
// a single draft. Optimal with one token a rung, exactly lossless with any rungs.
//
//   rung       laws.rungs()        tokens or buckets by p / q descending
//   c_i        plan.levels         level of the break below rung i; up when a uniform u is less
//   p_I        q(x) slope[rung]    law of the selected draft
//
// Selection: the breaks that are up cut the rungs into groups; the group of the best-ranked draft is taken, and among
// the drafts in it one is chosen uniformly. Cost: one plan per (p, q, K), O(n log n) for n rungs; then O(K) a trial.
// Source: derived here (docs/ladder.md); same optimum as Global Resolution, Thomas and Pal, arXiv:2511.15898.
// Exact because p_I is the law of the selected draft for whatever levels were set, and one draft with a known law is
// verified exactly.
#pragma once

#include <memory>

#include <draftproof/sim/ladder_plan.hpp>
#include <draftproof/sim/range_maximum.hpp>
#include <draftproof/sim/uniform_source.hpp>
#include <draftproof/sim/verifier.hpp>

namespace draftproof::verifiers {

struct Ladder {
  static constexpr Info info{
      .name = "ladder",
      .summary = "select one draft by levels between rungs of p/q, then accept or correct it",
      .source = "derived here, docs/ladder.md; optimum as in Thomas and Pal, arXiv:2511.15898",
      .drafts = DraftLaws{"iid"},
      .claims = {.accepts_equal_laws = true, .one_draft_is_single_draft = true, .flag_is_membership = true},
      .cannot = {.device = "the plan is made on the host"}};

  /// Immutable once made; shared by copies of the plan.
  template <class L>
  struct Core {
    using Scalar = typename L::Scalar;

    Core(const L& laws, int drafts)
        : rungs{laws.rungs()}, plan{plan_ladder<Scalar>(rungs, ratios(laws, rungs), drafts)} {
      distinct = plan.level;
      if (!distinct.empty()) distinct[0] = Scalar{0};
      distinct.insert(distinct.end(), {Scalar{0}, Scalar{1}});
      std::sort(distinct.begin(), distinct.end());
      distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
      std::vector<std::uint32_t> ranks(plan.level.size());
      for (std::size_t i = 1; i < ranks.size(); ++i)
        ranks[i] = static_cast<std::uint32_t>(std::lower_bound(distinct.begin(), distinct.end(), plan.level[i]) -
                                              distinct.begin());
      rank = RangeMaximum(std::move(ranks));
    }

    /// p- over q-mass of each rung, from the tokens' own masses: differences of prefix sums lose the narrow ones.
    template <class Rungs>
    static std::vector<Scalar> ratios(const L& laws, const Rungs& rungs) {
      std::vector<Scalar> p(static_cast<std::size_t>(rungs.size()), Scalar{0}), q = p;
      for (Token x = 0; x < laws.vocabulary(); ++x)
        if (laws.proposal(x) > laws.zero()) {
          const auto rung = static_cast<std::size_t>(laws.rung(rungs, x));
          p[rung] += laws.target(x);
          q[rung] += laws.proposal(x);
        }
      for (std::size_t i = 0; i < p.size(); ++i) p[i] /= q[i];
      return p;
    }

    /// Probability that draft law p_I gives token x.
    Scalar selected(const L& laws, Token x) const {
      const auto& q = laws.proposal(x);
      return q > laws.zero() ? Scalar(q * plan.slope[static_cast<std::size_t>(laws.rung(rungs, x))]) : laws.zero();
    }

    decltype(std::declval<const L&>().rungs()) rungs;
    LadderPlan<Scalar> plan;
    std::vector<Scalar> distinct;  ///< levels that occur, ascending from 0 to 1
    RangeMaximum rank;             ///< of break i: the place of its level among the distinct ones
  };

  template <class L>
  static auto residual_of(const L& laws, std::shared_ptr<const Core<L>> core) {
    return laws.frozen([&laws, core](Token x) {
      const auto left = laws.target(x) - core->selected(laws, x);
      return left > laws.zero() ? typename L::Scalar(left) : laws.zero();
    });
  }

  template <class L>
  struct Plan {
    std::shared_ptr<const Core<L>> core;
    decltype(residual_of(std::declval<const L&>(), core)) residual;
  };

  template <Laws L>
  Plan<L> prepare(const L& laws, int drafts) const {
    auto core = std::make_shared<const Core<L>>(laws, drafts);
    return {core, residual_of(laws, core)};
  }

  template <Position P, RandomSource R>
  Verdict verify(const P& at, const Plan<typename P::Underlying>& plan, R& random) const {
    const auto& core = *plan.core;
    const auto& laws = at.laws();
    int best = 0;
    for (int k = 1; k < at.drafts(); ++k)
      if (laws.rung(core.rungs, at.draft(k)) < laws.rung(core.rungs, at.draft(best))) best = k;
    const int top = laws.rung(core.rungs, at.draft(best));
    // The interval of u between two distinct levels: a break is up when its level lies above it.
    const auto interval = static_cast<std::uint32_t>(random.pick(Intervals<typename P::Scalar>{core.distinct}));
    int group[max_drafts], size = 0;
    for (int k = 0; k < at.drafts(); ++k)
      if (const int rung = laws.rung(core.rungs, at.draft(k));
          rung == top || core.rank.of(top + 1, rung + 1) <= interval)
        group[size++] = k;
    const int chosen = size == 1 ? group[0] : group[random.pick(Uniform{size})];
    const Token x = at.draft(chosen);
    // Where single tokens reach 1, p_I is p and every flip is certain: only rounding could refuse it.
    const bool certain = decltype(core.rungs)::single_tokens && !(core.plan.acceptance < at.one());
    if (random.flip(at.target(x), core.selected(laws, x)) || certain) return accepted(x, chosen);
    return random.emit(plan.residual);
  }

 private:
  /// Interval j of u is [distinct[j], distinct[j + 1]).
  template <class Scalar>
  struct Intervals {
    const std::vector<Scalar>& distinct;
    Token draw(std::uint64_t word) const {
      const auto above =
          std::upper_bound(distinct.begin(), distinct.end(), unit_interval(word),
                           [](double u, const Scalar& level) { return u < static_cast<double>(level); });
      return static_cast<Token>(above - distinct.begin()) - 1;
    }
    template <class Visit>
    void for_each(Visit visit) const {
      for (std::size_t j = 0; j + 1 < distinct.size(); ++j)
        visit(static_cast<Token>(j), Scalar(distinct[j + 1] - distinct[j]));
    }
  };

  struct Uniform {
    int size;
    Token draw(std::uint64_t word) const { return static_cast<Token>(scale(word, static_cast<std::uint64_t>(size))); }
    template <class Visit>
    void for_each(Visit visit) const {
      for (Token i = 0; i < size; ++i) visit(i, 1);
    }
  };
};

}  // namespace draftproof::verifiers
