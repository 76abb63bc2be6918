// Histograms by a whole team: every token has an index and two integers, and the integers are summed for each index.
// (team_masses.cuh has the histogram of p and q.) The file also has the terms of the residual, which passes sum.
//
//   own    [2 places]    sums of a partition in its memory
//   all    the same      sums of the team, in the memory of every partition
//
// Cost: one pass over the rows; a lane adds to memory when the index of its tokens changes.
// Correctness: integer sums do not depend on the order of additions.
#pragma once

#include <cstddef>
#include <type_traits>

#include <draftproof/gpu/teams/team_masses.cuh>
#include <draftproof/gpu/teams/team_workspace.cuh>
#include <draftproof/sim/numeric/exp.hpp>
#include <draftproof/sim/numeric/fixed_point.hpp>
#include <draftproof/sim/numeric/short_float.hpp>

namespace draftproof::gpu {

/// Returns the sums, in the workspace's scratch memory: entries 2 i and 2 i + 1 are the sums of `first` and `second`
/// over the tokens with index i. `term(x)` has the members place (the index), first and second; tokens with place -1
/// are not counted. All threads of a team call it together.
template <Team T, class ForOwn, class Term>
DRAFTPROOF_DEVICE ListsOfTeams::List<Fixed> sums_by_place(const T& team,
                                                          const TeamWorkspace<PartitionOf<T>>& workspace, int places,
                                                          const ForOwn& for_own, const Term& term) {
  auto own = workspace.template scratch<Fixed>(2 * places), all = own;
  if (team.partitions() > 1) all = workspace.template scratch<Fixed>(2 * places);
  workspace.each(2 * places, [&](int i) { own[static_cast<std::size_t>(i)] = 0; });
  int place = -1;
  Fixed first = 0, second = 0;
  const auto tell = [&] {
    if (first != 0) team.add_shared(own[2 * static_cast<std::size_t>(place)], first);
    if (second != 0) team.add_shared(own[2 * static_cast<std::size_t>(place) + 1], second);
    first = second = 0;
  };
  for_own([&](Token x) {
    const auto here = term(x);
    if (here.place < 0) return;
    if (here.place != place) {
      tell();
      place = here.place;
    }
    first += here.first;
    second += here.second;
  });
  tell();
  workspace.meet();
  add_up_partitions(team, own.data(), all.data(), 2 * places);
  return all;
}

/// The term (p - b q)+ in float. It is 0 where p = q = 0, so padding with zeros adds nothing to a sum.
struct FloatResidual {
  FloatFactor factor;
  DRAFTPROOF_DEVICE float operator()(float p, float q) const { return factor.above(p, q); }
};
/// The term (p - b q)+ in double.
struct DoubleResidual {
  double b;
  DRAFTPROOF_DEVICE double operator()(double p, double q) const {
    const double left = p - b * q;
    return left > 0 ? left : 0.0;
  }
};

/// A term of each token x of the rows, of_pair(p(x), q(x)). A pass that has loaded p(x) and q(x) may call `of_pair`
/// itself.
template <class Source, class OfPair>
struct PairTerm {
  static constexpr bool of_floats = std::is_same_v<OfPair, FloatResidual>;

  const Source& rows;
  OfPair of_pair;

  DRAFTPROOF_DEVICE auto operator()(Token x) const {
    if constexpr (of_floats)
      return of_pair(static_cast<float>(rows.p(x)), static_cast<float>(rows.q(x, 0)));
    else
      return of_pair(rows.p(x), rows.q(x, 0));
  }
};

/// Calls use(term) with the terms (p - b q)+ of these rows as FreshRows forms them: in float if the entries are no
/// longer than float and b fits (FloatFactor), else in double.
template <class Source, class Use>
DRAFTPROOF_DEVICE void with_residual(const Source& rows, double b, const Use& use) {
  if constexpr (!std::is_same_v<typename Source::Entry, double>) {
    const FloatFactor factor(b);
    if (factor.fits()) return use(PairTerm<Source, FloatResidual>{rows, {factor}});
  }
  use(PairTerm<Source, DoubleResidual>{rows, {b}});
}

}  // namespace draftproof::gpu
