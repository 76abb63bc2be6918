// The draft that a ladder selects: a draft in the same group as the best-ranked draft.
//
//   taken_group          the group of the best-ranked draft, for one uniform (levels.hpp)
//   choose_in_top_group  of independent drafts: a draft of the group, uniformly
//   choose_distinct      of drafts without replacement, by the race below
//
//   H, G, Z        bins above the group taken, the group, the bins below it
//   g_1, g_2, ..   drafts in G in draw order
//   k              K minus the clocks of Z that ring before H; G is taken if its k-th clock rings before H
//
// If H is empty, g_1 is chosen. Otherwise the race of the drafts continues: tokens are drawn from q on H and the
// undrafted part of Z. k starts at the number of drafts in G and falls by one with each draw from Z, until a draw is
// in H or k = 1. Then g_i, i < k, is chosen with probability q(g_i) / q(G), and g_k with the rest.
// Cost: O(K) and a search among the levels; without replacement O(K) draws if a group contains several drafts
// (remaining_bins.hpp).
// Correctness: without replacement the choice has the distribution q(x) / q(G) on the event that G is hit and H is
// not, for all disjoint H, G, Z (docs/ladder.md, "Without replacement").
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <draftproof/sim/device/cooperative_memory.hpp>
#include <draftproof/sim/sampling/guide_table.hpp>
#include <draftproof/sim/token.hpp>
#include <draftproof/verifiers/ladder/levels.hpp>
#include <draftproof/verifiers/ladder/remaining_bins.hpp>

namespace draftproof {

/// The group that is taken, with its drafts in draw order.
struct TakenGroup {
  int drafts[max_drafts], size = 0;  ///< indices among all drafts
  int top = 0;                       ///< bin of the best-ranked draft
  std::uint32_t u = 0;               ///< index of the interval of levels that contains u, which decides the breaks
};

/// Returns the group of the best-ranked draft; `bin(k)` is the bin of draft k, `levels` has the levels of the breaks.
template <class Bin, class Levels, class R>
DRAFTPROOF_DEVICE TakenGroup taken_group(int drafts, const Bin& bin, const Levels& levels, R& random) {
  TakenGroup group;
  for (int k = 0; k < drafts; ++k)
    if (const int own = bin(k); k == 0 || own < group.top) group.top = own;
  group.u = levels.draw(random);
  for (int k = 0; k < drafts; ++k)
    if (levels.together(group.top, bin(k), group.u)) group.drafts[group.size++] = k;
  return group;
}

/// Returns the index of the draft that a ladder selects among the independent drafts of `at`.
/// `core.bin(distributions, x)` is the bin of a token.
template <class P, class Core, class R>
DRAFTPROOF_DEVICE int choose_in_top_group(const P& at, const Core& core, R& random) {
  const auto bin = [&](int k) { return core.bin(at.distributions(), at.draft(k)); };
  const TakenGroup group = taken_group(at.drafts(), bin, core.levels, random);
  return group.drafts[group.size == 1 ? 0 : random.pick(UniformIndex{group.size})];
}

/// Returns the q-mass of the first i bins. A team stores this mass at the corners of its plan only, which include every
/// break that is ever up, and so all ends of groups. For i between two corners, a team gets the mass at the corner
/// before i.
template <class Bins, class Plan>
DRAFTPROOF_DEVICE auto mass_above(const Bins& bins, const Plan& plan, int i) {
  if constexpr (requires { plan.corner; }) {
    const auto above = [&](std::size_t j) { return !(i < static_cast<int>(plan.corner[j])); };
    return plan.s[bisected(0, plan.corner.size(), above) - 1];
  } else {
    return bins.proposal_below(i);
  }
}

/// The choice among several drafts of a group that were drawn without replacement (top of this file): of() returns
/// the index, within the group, of the chosen draft.
struct DistinctChoice {
  template <class P, class Core, class R>
  [[gnu::noinline]] DRAFTPROOF_DEVICE int of(const P& at, const Core& core, const TakenGroup& group,
                                             R& random) const {
    const auto [first, end] = core.levels.group(group.top, group.u);
    const auto above = mass_above(core.bins, core.plan, first);
    if (first == 0 || !(above > at.zero())) return 0;
    // Draws a token v from q on G. `wanted` is its index in the group; the last index also stands for an undrafted v.
    auto rest = mass_above(core.bins, core.plan, end) - above;
    int wanted = 0;
    for (; wanted + 1 < group.size; ++wanted) {
      const auto& q = at.proposal(at.draft(group.drafts[wanted]));
      if (!(q < rest) || random.flip(q, rest)) break;
      rest -= q;
    }
    if (wanted == 0) return 0;
    Token below[2 * max_drafts];
    int seen = 0;
    for (int k = 0, member = 0; k < at.drafts(); ++k) {
      if (member < group.size && group.drafts[member] == k)
        ++member;
      else
        below[seen++] = at.draft(k);
    }
    int k = group.size;
    for (;;) {
      const auto remaining = remaining_from(at.distributions(), core, end, below, seen);
      const auto left = remaining.mass();
      if (!(left > at.zero()) || random.flip(above, decltype(rest)(above + left))) break;
      if (--k == 1) break;
      const Token next = random.pick(remaining);
      if (next == no_token) break;  // possible by rounding, if the mass left is below the unit of the sums
      below[seen++] = next;
    }
    return wanted < k - 1 ? wanted : k - 1;
  }

 private:
  template <class L, class Core>
  DRAFTPROOF_DEVICE static auto remaining_from(const L& distributions, const Core& core, int end, const Token* seen,
                                               int n) {
    using Remaining = RemainingBins<L, std::remove_cvref_t<decltype(core.bins)>>;
    if constexpr (PlannedByTeam<L>) {
      const auto above = [&core](int i) { return mass_above(core.bins, core.plan, i); };
      return Remaining(distributions, core.bins, end, seen, n, above(core.bins.size()) - above(end));
    } else {
      return Remaining(distributions, core.bins, end, seen, n);
    }
  }
};

/// Returns the index of the draft that a ladder selects among drafts without replacement.
template <class P, class Core, class R, class Chooser = DistinctChoice>
DRAFTPROOF_DEVICE int choose_distinct(const P& at, const Core& core, R& random, const Chooser& choice = {}) {
  const auto& distributions = at.distributions();
  int bin[max_drafts];
  for (int k = 0; k < at.drafts(); ++k) bin[k] = ladder_bin(distributions, core.bins, at.draft(k));
  const TakenGroup group = taken_group(
      at.drafts(), [&bin](int k) { return bin[k]; }, core.levels, random);
  return group.drafts[group.size == 1 ? 0 : choice.of(at, core, group, random)];
}

}  // namespace draftproof
