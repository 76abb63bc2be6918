// The plan of the ladder: which breaks between rungs stand at which level, and the law of the draft they select.
//
//   s_i, P_i   rungs.proposal_below(i), target_below(i)     q- and p-mass of the first i rungs
//   f(s)       coverage (coverage.hpp)                      probability that some draft falls in the first s of q
//   D_i        (P_i - f(s_i))+                              target mass that drafts above break i cannot serve
//   M_i        running maximum of D towards its argmax i*   from the left before i*, from the right after it
//   G_i        P_i - M_i                                    mass the selected draft has in the first i rungs
//   c_i        level of break i, in [0, 1]                  up with probability c_i
//
// Every concave G <= f with the same ends is a mixture of chords of f over nested sets of breaks; the levels are the
// times at which breaks leave while kinks of G are spent at the rate of f's (ladder_sweep.hpp). Buckets that lose
// nothing by it are joined first. Cost: O(n log n) values of f. Derived in docs/ladder.md.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <draftproof/sim/coverage.hpp>
#include <draftproof/sim/ladder_sweep.hpp>
#include <draftproof/sim/token.hpp>

namespace draftproof {

/// p- over q-mass of each rung, from the tokens' own masses: differences of prefix sums lose the narrow ones.
template <class L, class Rungs>
std::vector<typename L::Scalar> rung_ratios(const L& laws, const Rungs& rungs) {
  std::vector<typename L::Scalar> p(static_cast<std::size_t>(rungs.size()), laws.zero()), q = p;
  for (Token x = 0; x < laws.vocabulary(); ++x)
    if (laws.proposal(x) > laws.zero()) {
      const auto rung = static_cast<std::size_t>(laws.rung(rungs, x));
      p[rung] += laws.target(x);
      q[rung] += laws.proposal(x);
    }
  for (std::size_t i = 0; i < p.size(); ++i) p[i] /= q[i];
  return p;
}

namespace detail {

/// What the plan knows at the corners i = 0 .. n between rungs.
template <class Scalar>
struct LadderCorners {
  std::vector<Scalar> s, covered;          ///< s_i and f(s_i)
  std::vector<Scalar> g, excess, unserved;  ///< G_i, P_i - f(s_i), M_i
  std::size_t peak;                        ///< i*

  bool touches(std::size_t i) const { return unserved[i] == excess[i]; }
};

template <class Rungs, class Coverage, class Scalar>
LadderCorners<Scalar> ladder_corners(const Rungs& rungs, const Coverage& coverage, const Scalar& zero) {
  const auto n = static_cast<std::size_t>(rungs.size());
  LadderCorners<Scalar> at;
  for (auto* row : {&at.s, &at.covered, &at.g, &at.excess, &at.unserved}) row->resize(n + 1);
  for (std::size_t i = 0; i <= n; ++i) {
    at.s[i] = rungs.proposal_below(static_cast<int>(i));
    at.g[i] = rungs.target_below(static_cast<int>(i));
    at.covered[i] = Scalar{1} - coverage.none(Scalar(Scalar{1} - at.s[i]));
    at.excess[i] = at.g[i] - at.covered[i];
    at.unserved[i] = std::max<Scalar>(at.excess[i], zero);
  }
  at.peak = static_cast<std::size_t>(std::max_element(at.unserved.begin(), at.unserved.end()) - at.unserved.begin());
  for (std::size_t i = 0; i < at.peak; ++i) at.unserved[i + 1] = std::max<Scalar>(at.unserved[i], at.unserved[i + 1]);
  for (std::size_t i = n; i > at.peak; --i) at.unserved[i - 1] = std::max<Scalar>(at.unserved[i], at.unserved[i - 1]);
  for (std::size_t i = 0; i <= n; ++i) at.g[i] -= at.unserved[i];
  return at;
}

/// Corners that stand at time 0: all, but for rungs too narrow for the sums to tell their ends apart. Rungs that say
/// so are joined as well: where G follows f and p stays on its side of the chord it costs nothing, as the smaller of
/// p and p_I remains the same one; where nothing is held back, the range of p / q times the q-mass bounds the cost.
template <class Rungs, class Scalar>
std::vector<int> standing_corners(const Rungs& rungs, const LadderCorners<Scalar>& at,
                                  const std::vector<Scalar>& ratio) {
  const std::size_t n = ratio.size();
  std::vector<int> kept{0};
  kept.reserve(n + 1);
  for (std::size_t i = 1, a = 0; i < n; ++i) {
    if (!(at.s[a] < at.s[i] && at.s[i] < at.s[n])) continue;
    if constexpr (requires { rungs.spread(); }) {
      // May break i be passed over, so that its rung joins those from `a` on?
      const Scalar width = at.s[i + 1] - at.s[a];
      if (at.touches(a) && at.touches(i) && at.touches(i + 1)) {
        const Scalar rise = at.covered[i + 1] - at.covered[a];
        const bool harmless = i < at.peak ? !(ratio[i] * width < rise) : !(rise < ratio[a] * width);
        if (i != at.peak && harmless && rungs.joins()) continue;
      } else if (!at.touches(a) && !at.touches(i) && !at.touches(i + 1)) {
        if ((ratio[a] - ratio[i]) * width < rungs.spread()) continue;
      }
    }
    kept.push_back(static_cast<int>(i));
    a = i;
  }
  kept.push_back(static_cast<int>(n));
  return kept;
}

}  // namespace detail

/// The plan for i.i.d. drafts whose number `coverage` knows, on the rungs of `laws`.
template <class L, class Rungs, class Coverage>
LadderPlan<typename L::Scalar> plan_ladder(const L& laws, const Rungs& rungs, const Coverage& coverage) {
  using Scalar = typename L::Scalar;
  const auto place = [](int i) { return static_cast<std::size_t>(i); };
  const auto corners = detail::ladder_corners(rungs, coverage, Scalar{0});
  const auto& ratio = [&]() -> decltype(auto) {
    if constexpr (requires { rungs.ratios(); })
      return rungs.ratios();
    else
      return rung_ratios(laws, rungs);
  }();
  const auto kept = detail::standing_corners(rungs, corners, ratio);
  const auto touches = [&](int i) { return corners.touches(place(i)); };
  // Of G between neighbours: f's where G touches it, p / q where nothing is held back, else by difference. The first
  // two keep their digits on narrow rungs, where a difference of sums has none.
  const auto slope = [&](int a, int b) -> Scalar {
    const Scalar &from = corners.s[place(a)], &to = corners.s[place(b)];
    if (touches(a) && touches(b)) return coverage.chord(Scalar(Scalar{1} - from), Scalar(Scalar{1} - to));
    if (b == a + 1 && corners.unserved[place(a)] == corners.unserved[place(b)]) return ratio[place(a)];
    return (corners.g[place(b)] - corners.g[place(a)]) / (to - from);
  };
  (void)laws;
  LadderPlan<Scalar> plan;
  plan.acceptance = Scalar{1} - corners.unserved[corners.peak];
  detail::LadderSweep<Scalar, Coverage>(kept, corners.s, coverage, slope, touches).run(plan, rungs.size());
  return plan;
}

}  // namespace draftproof
