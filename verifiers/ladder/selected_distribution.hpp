// The goal of a ladder: the distribution G that the selected draft is to have, and the breaks between bins with which
// the sweep (level_sweep.hpp) starts. A break stands until the sweep removes it.
//
//   D_i        excess                  P_i - f(s_i): target mass above break i that drafts there cannot provide
//   M_i        unserved                running maximum of D towards its argmax i*
//   G          P - M                   follows f where M moves, P where M is constant
//   h_i, l_i   highest(i), lowest(i)   bounds of p / q in bin i, where bins are buckets
//
// Buckets: p_I / q is constant in a bucket, but p / q is not. So where G follows P, drafts on one side of the mean
// ratio are refused, and drafts on the other side have surplus. Below i*, where G follows f and p_I > p, there is
// further surplus. It allows p_I / q to be h_i in every bucket, so that no token below i* is ever refused. The P that G
// follows is then P' = 1 - sum of h_j q_j from the end, if P' still meets f below i*; otherwise h_i is moved towards
// the bucket's mean ratio until P' meets f. Above i* the mirror image holds, with l_i. The loss that remains is due to
// i*, which lies between buckets. The surplus also pays for joining buckets beforehand, in proportion to the surplus,
// so that the sweep has few bins.
//
// Cost: O(n) values of f.
// Correctness: any goal is lossless, because p_I is computed from the levels. Derived in docs/ladder.md.
#pragma once

#include <cstddef>

#include <draftproof/sim/device/cooperative_memory.hpp>
#include <draftproof/verifiers/ladder/level_sweep.hpp>

namespace draftproof::detail {

/// f, D and M at the corners i = 0 .. n between bins.
template <class Bins, class Scalar, class Workspace>
struct LadderBounds {
  template <class Coverage>
  DRAFTPROOF_DEVICE LadderBounds(const Workspace& workspace, const Bins& on_bins, const Coverage& coverage)
      : bins{on_bins},
        covered(workspace.template scratch<Scalar>(bins.size() + 1)),
        unserved(workspace.template scratch<Scalar>(bins.size() + 1)) {
    const int n = bins.size();
    workspace.each(n + 1, [&](int i) {
      if constexpr (CoveredByPlace<Coverage>)
        covered[at(i)] = coverage.covered(i);
      else
        covered[at(i)] = Scalar{1} - coverage.none(Scalar(Scalar{1} - s(i)));
      unserved[at(i)] = Greater{}(excess(i), Scalar{0});
    });
    peak = place_of_greatest(workspace, n + 1, [this](int i) { return unserved[at(i)]; });
    const auto towards_peak = [&](int count, auto place) {
      workspace.scan(
          count, Scalar{0}, [&](int i) { return unserved[at(place(i))]; }, Greater{},
          [&](int i, const Scalar& before, const Scalar& own) { unserved[at(place(i))] = Greater{}(before, own); });
    };
    towards_peak(peak + 1, [](int i) { return i; });
    towards_peak(n - peak + 1, [n](int i) { return n - i; });
  }

  DRAFTPROOF_DEVICE decltype(auto) s(int i) const { return bins.proposal_below(i); }
  DRAFTPROOF_DEVICE decltype(auto) target(int i) const { return bins.target_below(i); }
  DRAFTPROOF_DEVICE Scalar excess(int i) const { return target(i) - covered[at(i)]; }
  DRAFTPROOF_DEVICE bool touches(int i) const { return unserved[at(i)] == excess(i); }
  DRAFTPROOF_DEVICE bool touches_all(const Workspace& workspace, int a, int b) const {
    return workspace.first(a, b + 1, [this](int i) { return !touches(i); }) > b;
  }
  DRAFTPROOF_DEVICE const Scalar& surplus() const { return unserved[at(peak)]; }
  DRAFTPROOF_DEVICE static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  const Bins& bins;
  ListIn<Workspace, Scalar> covered, unserved;
  int peak;
};

/// Finds the corners that stand at time 0: all, except the corners of bins too narrow for their prefix sums to differ.
/// Buckets are joined as well. If G follows f and p stays on one side of the chord, joining loses nothing, because the
/// smaller of p and p_I stays the same; if M is constant, the spread must be small compared with the surplus.
template <class Bins, class Scalar, class Workspace, class Ratios>
[[gnu::noinline]] DRAFTPROOF_DEVICE void find_standing_corners(const Workspace& workspace,
                                                               const LadderBounds<Bins, Scalar, Workspace>& at,
                                                               const Ratios& ratios,
                                                               [[maybe_unused]] bool whole_buckets,
                                                               ListIn<Workspace, typename Workspace::Index>& corner) {
  [[maybe_unused]] const Bins& bins = at.bins;
  const int n = bins.size();
  const auto index = [](int i) { return static_cast<typename Workspace::Index>(i); };
  // Whether break i stands, so that its bin does not join the bins from `a` on.
  const auto stands = [&](int a, int i) {
    if (!(at.s(a) < at.s(i) && at.s(i) < at.s(n))) return false;
    if constexpr (requires { Bins::open_end; })  // the last bin is never joined
      if (i == n - 1) return true;
    if constexpr (requires { bins.highest(0); }) {
      const auto ratio = [&ratios](int j) { return ratios[static_cast<std::size_t>(j)]; };
      const Scalar width = at.s(i + 1) - at.s(a);
      if (!whole_buckets) {
        if ((ratio(a) - ratio(i)) * width < bins.least_spread) return false;
      } else if (at.touches(a) && at.touches(i) && at.touches(i + 1)) {
        const Scalar rise = at.covered[at.at(i + 1)] - at.covered[at.at(a)];
        const bool harmless = i < at.peak ? !(ratio(i) * width < rise) : !(rise < ratio(a) * width);
        if (i != at.peak && harmless) return false;
      } else if (at.unserved[at.at(a)] == at.unserved[at.at(i)] &&
                 at.unserved[at.at(i)] == at.unserved[at.at(i + 1)]) {
        const Scalar least = bins.least_spread / 4, most = at.surplus() * at.surplus() / 8;
        if ((ratio(a) - ratio(i)) * width < Greater{}(least, most)) return false;
      }
    }
    return true;
  };
  const int found =
      workspace.chain(n, stands, [&](int k, int i) { corner[static_cast<std::size_t>(k) + 1] = index(i); });
  workspace.each(1, [&](int) {
    corner[0] = 0;
    corner[static_cast<std::size_t>(found) + 1] = index(n);
  });
  int stretches = found + 1;
  if constexpr (requires { bins.most_stretches; })
    for (; stretches > bins.most_stretches; stretches = (stretches + 1) / 2)
      workspace.once([&] {  // drops every other corner
        for (int j = 1; 2 * j < stretches; ++j)
          corner[static_cast<std::size_t>(j)] = corner[static_cast<std::size_t>(2 * j)];
        corner[static_cast<std::size_t>((stretches + 1) / 2)] = index(n);
      });
  corner.resize(static_cast<std::size_t>(stretches) + 1);
}

/// Changes `goal`, which is G for the buckets' own ratios, so that it serves whole buckets (top of this file).
template <class Bins, class Workspace>
[[gnu::noinline]] DRAFTPROOF_DEVICE void serve_whole_buckets(const Workspace& workspace,
                                                             const LadderBounds<Bins, double, Workspace>& at,
                                                             LadderGoal<double, Workspace>& goal) {
  const Bins& bins = at.bins;
  const auto index = [](int i) { return static_cast<std::size_t>(i); };
  const auto corner = [&](int j) { return static_cast<int>(goal.corner[index(j)]); };
  const int n = static_cast<int>(goal.slope.size());
  const double surplus = at.surplus();
  if (!(surplus > 0)) return;
  const int peak = workspace.first(0, n, [&](int j) { return !(corner(j) < at.peak); });
  auto slope = workspace.template scratch<double>(n), excess = workspace.template scratch<double>(n + 1),
       held = workspace.template scratch<double>(n + 1);
  const auto width = [&](int j) { return goal.s[index(j + 1)] - goal.s[index(j)]; };
  const auto more = [&](int j) { return bins.highest(corner(j)) - slope[index(j)]; };

  // Below the peak the slope is the mean ratio of the joined buckets, moved towards their highest ratio.
  workspace.each(n, [&](int j) {
    slope[index(j)] = (at.target(corner(j + 1)) - at.target(corner(j))) / width(j);
    excess[index(j)] = goal.on_f[index(j)] ? 0 : more(j) * width(j);
  });
  const double part = workspace.once([&] {
    double spread = 0;
    for (int j = peak; j < n; ++j)  // where G follows f, slopes are not moved
      if (!goal.on_f[index(j)]) spread += excess[index(j)];
    return spread > surplus * 0.875 ? surplus * 0.875 / spread : 1.0;
  });
  workspace.each(n, [&](int j) {
    if (!goal.on_f[index(j)])
      slope[index(j)] = j < peak ? bins.lowest(corner(j + 1) - 1) : slope[index(j)] + part * more(j);
    held[index(j)] = slope[index(j)] * width(j);  // until `hold` overwrites it: the mass emitted in the bin
  });
  const auto aim = [&](int first, int last) {
    workspace.each(last - first, [&](int i) {
      const std::size_t j = index(first + i), next = j + 1;
      goal.on_f[j] = held[j] == excess[j] && held[next] == excess[next];
      goal.slope[j] = slope[j] - (held[next] - held[j]) / width(first + i);
    });
  };
  // Stores in `held` the running maximum of `excess` along j = place(0), place(1) ..; returns the first j of the
  // maximum.
  const auto hold = [&](int count, double none, auto place) {
    workspace.scan(
        count, none, [&](int i) { return excess[index(place(i))]; }, Greater{},
        [&](int i, double before, double own) { held[index(place(i))] = Greater{}(before, own); });
    return place(place_of_greatest(workspace, count, [&](int i) { return excess[index(place(i))]; }));
  };

  workspace.once([&] {
    double served = at.target(corner(n));
    excess[index(n)] = 0;
    for (int j = n; j-- > peak;) excess[index(j)] = served -= held[index(j)];
  });
  workspace.each(n - peak, [&](int i) { excess[index(peak + i)] -= at.covered[index(corner(peak + i))]; });
  const int far = hold(n - peak + 1, 0, [n](int i) { return n - i; });
  if (at.touches_all(workspace, at.peak, corner(far))) aim(far, n);

  // Above the peak the computation is the mirror image of this, with the lowest ratios as slopes.
  workspace.once([&] {
    double served = excess[0] = at.target(0);
    for (int j = 0; j < peak; ++j) excess[index(j + 1)] = served += held[index(j)];
  });
  workspace.each(peak, [&](int i) { excess[index(i + 1)] -= at.covered[index(corner(i + 1))]; });
  const int near = hold(peak + 1, at.target(0), [](int i) { return i; });
  if (at.touches_all(workspace, corner(near), at.peak)) aim(0, near);
}

/// Returns the corners that stand at time 0; `ratios` are p-mass over q-mass of each bin.
template <class Bins, class Scalar, class Workspace, class Ratios>
DRAFTPROOF_DEVICE auto standing_corners(const Workspace& workspace, const LadderBounds<Bins, Scalar, Workspace>& at,
                                        const Ratios& ratios, bool whole_buckets) {
  auto corner = workspace.template persistent<typename Workspace::Index>(at.bins.size() + 1);
  find_standing_corners(workspace, at, ratios, whole_buckets, corner);
  return corner;
}

/// Returns the goal on the bins of `at`, where the corners in `corner` stand at time 0.
template <class Bins, class Scalar, class Workspace, class Ratios>
DRAFTPROOF_DEVICE LadderGoal<Scalar, Workspace> ladder_goal(
    const Workspace& workspace, const LadderBounds<Bins, Scalar, Workspace>& at, const Ratios& ratios,
    [[maybe_unused]] bool whole_buckets, const ListIn<Workspace, typename Workspace::Index>& corner) {
  LadderGoal<Scalar, Workspace> goal;
  goal.corner = corner;
  const int n = static_cast<int>(goal.corner.size()) - 1;
  goal.s = workspace.template persistent<Scalar>(n + 1);
  goal.on_f = workspace.template persistent<char>(n);
  goal.slope = workspace.template persistent<Scalar>(n);
  workspace.each(n + 1, [&](int j) {
    goal.s[static_cast<std::size_t>(j)] = at.s(static_cast<int>(goal.corner[static_cast<std::size_t>(j)]));
  });
  // G has the slope of f where it touches f, p / q where M is constant, and otherwise a difference quotient. The
  // first two stay accurate on narrow bins, where a difference of sums does not.
  workspace.each(n, [&](int k) {
    const auto j = static_cast<std::size_t>(k);
    const int a = goal.corner[j], b = goal.corner[j + 1];
    const Scalar &held = at.unserved[at.at(a)], &held_after = at.unserved[at.at(b)];
    goal.on_f[j] = at.touches(a) && at.touches(b);
    if (goal.on_f[j])
      goal.slope[j] = Scalar{0};
    else if (b == a + 1 && held == held_after)
      goal.slope[j] = ratios[at.at(a)];
    else
      goal.slope[j] = Scalar(((at.target(b) - held_after) - (at.target(a) - held)) / (at.s(b) - at.s(a)));
  });
  if constexpr (requires { at.bins.highest(0); })
    if (whole_buckets) serve_whole_buckets(workspace, at, goal);
  if constexpr (requires { Bins::open_end; })  // its last bin has unbounded width
    workspace.each(1, [&](int) {
      goal.on_f[static_cast<std::size_t>(n) - 1] = false;
      goal.slope[static_cast<std::size_t>(n) - 1] = 0;
    });
  return goal;
}

}  // namespace draftproof::detail
