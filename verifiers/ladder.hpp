// The ladder: selects one of K i.i.d. drafts such that its distribution is the best possible for any selection, then
// verifies it as a single draft. It is optimal if bins are single tokens.
//
//   bin       distributions.bins()   tokens or buckets of tokens by p / q, descending
//   c_i       plan.level             level of the break below bin i; the break is up if a uniform u is below c_i
//   p_I       q(x) slope[bin]        distribution of the selected draft
//
// Selection: the breaks that are up cut the bins into groups. The group that holds the highest drafted p / q is
// taken; one of the drafts in it is chosen uniformly.
// Cost: one plan per (p, q, K), O(n log n) for n bins; then O(K) per trial.
// Source: derived here (docs/ladder.md); same optimum as Global Resolution, Thomas and Pal, arXiv:2511.15898.
// Correctness: p_I is the distribution of the selected draft for any levels, and verifying one draft of known
// distribution is lossless.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/ladder/group_choice.hpp>
#include <draftproof/verifiers/ladder/levels.hpp>
#include <draftproof/verifiers/ladder/plan.hpp>
#include <draftproof/verifiers/ladder/residual.hpp>
#include <draftproof/verifiers/rejection/residual_chain.hpp>

namespace draftproof::verifiers {

struct Ladder {
  static constexpr Info info{.name = "ladder",
                             .summary = "select one draft by levels between bins of p/q, then accept or correct it",
                             .source = "derived here, docs/ladder.md; optimum as in Thomas and Pal, arXiv:2511.15898",
                             .drafts = DraftSamplings{"iid"},
                             .claims = {.accepts_equal_distributions = true,
                                        .one_draft_is_single_draft = true,
                                        .emitted_drafts_are_accepted = true},
                             .ranks_tokens = true};

  /// The form in which a device reads the plan of a table, which the host prepares.
  using TablePlan = LadderView;

  /// Shared memory in bytes for a team (the GPU threads that verify one row) that makes the plan together.
  static constexpr std::size_t team_bytes = ladder_team_bytes<std::uint16_t>();

  /// A callable that returns the coverage of i.i.d. drafts (coverage.hpp).
  template <class Scalar>
  struct Independent {
    int drafts;
    DRAFTPROOF_DEVICE FixedCoverage<Scalar> operator()(const auto&, const auto&) const {
      return FixedCoverage<Scalar>(drafts);
    }
  };

  /// The bins, levels and selected distribution. Immutable once made.
  template <class L>
  struct Core {
    using Scalar = typename L::Scalar;

    /// `cover(distributions, bins)` returns the coverage of the drafts.
    template <class Cover>
    requires(!std::convertible_to<const Cover&, int>) DRAFTPROOF_DEVICE
        Core(const L& distributions, const Cover& cover)
        : bins{distributions.bins()},
          plan{plan_ladder(distributions, bins, cover(distributions, bins), true)},
          levels{workspace_of(distributions), plan, decltype(bins)::single_tokens} {}

    DRAFTPROOF_DEVICE Core(const L& distributions, int drafts) : Core(distributions, Independent<Scalar>{drafts}) {}

    DRAFTPROOF_DEVICE int bin(const L& distributions, Token x) const { return distributions.bin(bins, x); }
    /// Probability that the selected draft is token x.
    DRAFTPROOF_DEVICE Scalar selected(const L& distributions, Token x) const {
      const auto& q = distributions.proposal(x);
      return q > distributions.zero() ? Scalar(q * plan.slope[static_cast<std::size_t>(bin(distributions, x))])
                                      : distributions.zero();
    }
    /// (p - p_I)+ at x.
    DRAFTPROOF_DEVICE Scalar left(const L& distributions, Token x) const {
      const auto left = distributions.target(x) - selected(distributions, x);
      return left > distributions.zero() ? Scalar(left) : distributions.zero();
    }

    decltype(std::declval<const L&>().bins()) bins;
    LadderPlan<Scalar, WorkspaceOf<L>> plan;
    LadderLevels<Scalar, WorkspaceOf<L>> levels;
  };

  /// Returns the residual (p - p_I)+, which shares the core with its plan.
  template <class L>
  static auto residual_of(const L& distributions, std::shared_ptr<const Core<L>> core) {
    if constexpr (ShowsRows<L>)
      return LadderLeft<L, decltype(core->bins)>(distributions, core->bins, core->plan.slope, 1.0);
    else
      return distributions.alias_weights([&distributions, core](Token x) { return core->left(distributions, x); });
  }

  template <class L>
  struct Plan {
    template <class Cover>
    Plan(const L& distributions, const Cover& cover)
        : shared{std::make_shared<const Core<L>>(distributions, cover)},
          residual{residual_of(distributions, shared)} {
      nothing_left = may_leave_nothing(distributions, *shared);
      Token x = 0;
      for (; nothing_left && x < distributions.vocabulary(); ++x)
        nothing_left = !(distributions.target(x) > shared->selected(distributions, x));
      if constexpr (ShowsRows<L>) distributions.count_visited(static_cast<std::size_t>(x));
    }
    const Core<L>& core() const { return *shared; }
    /// Returns a view of a table's plan. `place(data, size)` copies an array and returns its address.
    template <class Place>
    LadderView view(const Place& place) const {
      const auto put = [&place](const auto& list) { return place(list.data(), list.size()); };
      const auto& levels = shared->levels;
      const AliasTable* const left = residual.table();
      return {.bins = put(shared->bins.by_token()),
              .slope = put(shared->plan.slope),
              .levels = {.distinct = {put(levels.distinct()), levels.distinct().size()},
                         .ranks = {put(levels.ranks().rows()), levels.ranks().search().size}},
              .residual = left == nullptr ? AliasView{}
                                          : AliasView{put(left->cells()), put(left->rests()), left->cells().size()},
              .nothing_left = nothing_left};
    }

    std::shared_ptr<const Core<L>> shared;
    decltype(residual_of(std::declval<const L&>(), shared)) residual;
    /// Whether the residual is 0 everywhere. A flip can then fail by rounding only, and its failure is ignored if
    /// p(x) > 0.
    bool nothing_left;
  };
  /// The plan in the memory of the team that made it.
  template <PlannedByTeam L>
  struct Plan<L> {
    template <class Cover>
    DRAFTPROOF_DEVICE Plan(const L& distributions, const Cover& cover) : own(distributions, cover) {
      nothing_left = may_leave_nothing(distributions, own);
      if (!nothing_left) return;
      nothing_left =
          !(distributions.sum([&](Token x) { return own.left(distributions, x) > 0 ? 0x1p-60 : 0.0; }) > 0);
    }
    DRAFTPROOF_DEVICE const Core<L>& core() const { return own; }

    Core<L> own;
    bool nothing_left;
  };

  template <Distributions L>
  DRAFTPROOF_DEVICE Plan<L> prepare(const L& distributions, int drafts) const {
    return Plan<L>(distributions, Independent<typename L::Scalar>{drafts});
  }

  /// `plan` is a Plan or a LadderView.
  template <Position P, class Made, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, const Made& plan, R& random) const {
    return verify_selected(at, plan, choose_in_top_group(at, plan.core(), random), random);
  }

  /// Returns the verdict on the selected draft, whose distribution is the p_I of `plan`.
  template <Position P, class Made, RandomSource R>
  DRAFTPROOF_DEVICE static Verdict verify_selected(const P& at, const Made& plan, int chosen, R& random) {
    const auto& core = plan.core();
    const auto& distributions = at.distributions();
    const Token x = at.draft(chosen);
    if (random.flip(at.target(x), core.selected(distributions, x))) return accepted(x, chosen);
    if (plan.nothing_left)  // the flip failed by rounding or because p(x) = 0
      return at.target(x) > at.zero() ? accepted(x, chosen) : random.emit(distributions.residual(at.zero()));
    if constexpr (PlannedByTeam<typename P::Underlying>)
      return last_draw(at, random, distributions.weights([&](Token y) { return core.left(distributions, y); }));
    else
      return last_draw(at, random, plan.residual);
  }

 private:
  /// Whether the residual may be 0 everywhere. Its mass is at least 1 - acceptance minus V rounding errors, which are
  /// below 2^-20 together, so it is positive if 1 - acceptance exceeds 2^-20.
  template <class L>
  DRAFTPROOF_DEVICE static bool may_leave_nothing(const L& distributions, const Core<L>& core) {
    return !(distributions.one() - core.plan.acceptance > typename L::Scalar(0x1p-20));
  }
};

}  // namespace draftproof::verifiers
