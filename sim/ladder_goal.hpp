// What a ladder aims at: the law G of the selected draft, and which breaks it takes.
//
//   D_i        excess        P_i - f(s_i): target mass that drafts above break i cannot serve, where positive
//   M_i        unserved      running maximum of D towards its argmax i*
//   G          P - M         follows f where M moves, P where it rests
//   h_i, l_i   highest(i), lowest(i)   bounds of p / q in rung i, where rungs are buckets
//
// Buckets. p_I / q is one number in a bucket and p / q is not, so where G follows P drafts are refused on one side of
// it and surplus is lost on the other. But below i* there is surplus elsewhere, where G follows f and p_I > p: taken
// from there, p_I / q can be h_i in every bucket, and no token below i* is ever refused. The P that G follows is then
// P' = 1 - sum of h_j q_j from the end, as long as P' still meets f below i*; else h_i moves towards the bucket's own
// ratio until it does. Above i* the mirror image holds with l_i. What remains lost is that i* lies between buckets.
// The same surplus allows to join buckets first, in proportion to it: few rungs remain for the sweep.
// Cost: O(n) values of f. Derived in docs/ladder.md. Whatever comes out here is lossless: the law follows the levels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <draftproof/sim/ladder_sweep.hpp>

namespace draftproof::detail {

/// f, D and M at the corners i = 0 .. n between rungs.
template <class Scalar>
struct LadderBounds {
  template <class Rungs, class Coverage>
  LadderBounds(const Rungs& rungs, const Coverage& coverage) {
    const auto n = static_cast<std::size_t>(rungs.size());
    for (auto* row : {&s, &target, &covered, &excess, &unserved}) row->resize(n + 1);
    for (std::size_t i = 0; i <= n; ++i) {
      s[i] = rungs.proposal_below(static_cast<int>(i));
      target[i] = rungs.target_below(static_cast<int>(i));
      covered[i] = Scalar{1} - coverage.none(Scalar(Scalar{1} - s[i]));
      excess[i] = target[i] - covered[i];
      unserved[i] = std::max<Scalar>(excess[i], Scalar{0});
    }
    peak = static_cast<std::size_t>(std::max_element(unserved.begin(), unserved.end()) - unserved.begin());
    for (std::size_t i = 0; i < peak; ++i) unserved[i + 1] = std::max<Scalar>(unserved[i], unserved[i + 1]);
    for (std::size_t i = n; i > peak; --i) unserved[i - 1] = std::max<Scalar>(unserved[i], unserved[i - 1]);
  }

  bool touches(std::size_t i) const { return unserved[i] == excess[i]; }
  bool touches_all(std::size_t a, std::size_t b) const {
    while (a <= b)
      if (!touches(a++)) return false;
    return true;
  }

  std::vector<Scalar> s, target, covered, excess, unserved;
  std::size_t peak;
};

/// Corners that stand at time 0: all, but for rungs too narrow for the sums to tell their ends apart. Buckets may be
/// joined as well: where G follows f and p stays on its side of the chord it costs nothing, as the smaller of
/// p and p_I remains the same one; where M rests, what is spread must be small beside the surplus.
template <class Rungs, class Scalar>
std::vector<int> standing_corners([[maybe_unused]] const Rungs& rungs, const LadderBounds<Scalar>& at,
                                  const std::vector<Scalar>& ratio, [[maybe_unused]] bool whole_buckets) {
  const std::size_t n = ratio.size();
  std::vector<int> kept{0};
  kept.reserve(n + 1);
  [[maybe_unused]] const Scalar& surplus = at.unserved[at.peak];
  for (std::size_t i = 1, a = 0; i < n; ++i) {
    if (!(at.s[a] < at.s[i] && at.s[i] < at.s[n])) continue;
    if constexpr (requires { rungs.highest(0); }) {
      // May break i be passed over, so that its rung joins those from `a` on?
      const Scalar width = at.s[i + 1] - at.s[a];
      if (!whole_buckets) {
        if ((ratio[a] - ratio[i]) * width < rungs.least_spread) continue;
      } else if (at.touches(a) && at.touches(i) && at.touches(i + 1)) {
        const Scalar rise = at.covered[i + 1] - at.covered[a];
        const bool harmless = i < at.peak ? !(ratio[i] * width < rise) : !(rise < ratio[a] * width);
        if (i != at.peak && harmless) continue;
      } else if (at.unserved[a] == at.unserved[i] && at.unserved[i] == at.unserved[i + 1]) {
        if ((ratio[a] - ratio[i]) * width < std::max(rungs.least_spread / 4, surplus * surplus / 8)) continue;
      }
    }
    kept.push_back(static_cast<int>(i));
    a = i;
  }
  kept.push_back(static_cast<int>(n));
  return kept;
}

/// Lets G serve whole buckets, see above. `goal` is G for the buckets' own ratios.
template <class Rungs>
void serve_whole_buckets(const Rungs& rungs, const LadderBounds<double>& at, LadderGoal<double>& goal) {
  const auto corner = [&goal](std::size_t j) { return static_cast<std::size_t>(goal.corner[j]); };
  const std::size_t n = goal.slope.size();
  std::size_t peak = 0;
  while (corner(peak) < at.peak) ++peak;
  const double surplus = at.unserved[at.peak];
  if (!(surplus > 0)) return;
  std::vector<double> slope(n), excess(n + 1), held(n + 1);

  // Below the peak: the mean ratio of what is joined, moved towards the highest.
  double spread = 0;
  const auto own = [&](std::size_t j) {
    return (at.target[corner(j + 1)] - at.target[corner(j)]) / (goal.s[j + 1] - goal.s[j]);
  };
  for (std::size_t j = peak; j < n; ++j)  // where G follows f anyway, p stays on its side of it
    if (!goal.on_f[j]) spread += (rungs.highest(goal.corner[j]) - own(j)) * (goal.s[j + 1] - goal.s[j]);
  const double part = spread > surplus * 0.875 ? surplus * 0.875 / spread : 1;
  double served = at.target[corner(n)];
  std::size_t far = n;
  held[n] = excess[n] = 0;
  for (std::size_t j = n; j-- > peak;) {
    const double width = goal.s[j + 1] - goal.s[j];
    slope[j] = own(j);
    if (!goal.on_f[j]) slope[j] += part * (rungs.highest(goal.corner[j]) - slope[j]);
    served -= slope[j] * width;
    excess[j] = served - at.covered[corner(j)];
    held[j] = std::max(held[j + 1], excess[j]);
    if (excess[j] > excess[far]) far = j;
  }
  if (at.touches_all(at.peak, corner(far)))
    for (std::size_t j = far; j < n; ++j) {
      goal.on_f[j] = held[j] == excess[j] && held[j + 1] == excess[j + 1];
      goal.slope[j] = slope[j] - (held[j + 1] - held[j]) / (goal.s[j + 1] - goal.s[j]);
    }

  // Above the peak, mirrored: the lowest.
  served = at.target[0];
  std::size_t near = 0;
  held[0] = excess[0] = served;
  for (std::size_t j = 0; j < peak; ++j) {
    const double width = goal.s[j + 1] - goal.s[j];
    slope[j] = goal.on_f[j] ? own(j) : rungs.lowest(goal.corner[j + 1] - 1);
    served += slope[j] * width;
    excess[j + 1] = served - at.covered[corner(j + 1)];
    held[j + 1] = std::max(held[j], excess[j + 1]);
    if (excess[j + 1] > excess[near]) near = j + 1;
  }
  if (at.touches_all(corner(near), at.peak))
    for (std::size_t j = 0; j < near; ++j) {
      goal.on_f[j] = held[j] == excess[j] && held[j + 1] == excess[j + 1];
      goal.slope[j] = slope[j] - (held[j + 1] - held[j]) / (goal.s[j + 1] - goal.s[j]);
    }
}

template <class Rungs, class Scalar>
LadderGoal<Scalar> ladder_goal(const Rungs& rungs, const LadderBounds<Scalar>& at, const std::vector<Scalar>& ratio,
                               [[maybe_unused]] bool whole_buckets) {
  LadderGoal<Scalar> goal;
  goal.corner = standing_corners(rungs, at, ratio, whole_buckets);
  const std::size_t n = goal.corner.size() - 1;
  for (const int i : goal.corner) goal.s.push_back(at.s[static_cast<std::size_t>(i)]);
  // f's slope where G touches it, p / q where M rests, else by difference. The first two keep their digits on narrow
  // rungs, where a difference of sums has none.
  for (std::size_t j = 0; j < n; ++j) {
    const auto a = static_cast<std::size_t>(goal.corner[j]), b = static_cast<std::size_t>(goal.corner[j + 1]);
    goal.on_f.push_back(at.touches(a) && at.touches(b));
    if (goal.on_f.back())
      goal.slope.push_back(Scalar{0});
    else if (b == a + 1 && at.unserved[a] == at.unserved[b])
      goal.slope.push_back(ratio[a]);
    else
      goal.slope.push_back(
          Scalar(((at.target[b] - at.unserved[b]) - (at.target[a] - at.unserved[a])) / (at.s[b] - at.s[a])));
  }
  if constexpr (requires { rungs.highest(0); })
    if (whole_buckets) serve_whole_buckets(rungs, at, goal);
  return goal;
}

}  // namespace draftproof::detail
