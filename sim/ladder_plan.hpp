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
// times at which breaks leave while kinks of G are spent at the rate of f's. Cost: O(n log n) values of f. Derived in
// docs/ladder.md.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <queue>
#include <type_traits>
#include <vector>

#include <draftproof/sim/coverage.hpp>
#include <draftproof/sim/token.hpp>

namespace draftproof {

template <class Scalar>
struct LadderPlan {
  std::vector<Scalar> level;  ///< of break i, the one below rung i, for i = 1 .. n - 1; index 0 unused
  std::vector<Scalar> slope;  ///< selected law over q, for each of the n rungs
  Scalar acceptance{0};       ///< of the best verifier that keeps to these rungs
};

namespace detail {

/// Levels are compared with uniforms on the 53-bit grid: rounding them down to it makes both sides exact.
template <class Scalar>
Scalar on_grid(const Scalar& time) {
  if constexpr (std::is_floating_point_v<Scalar>)
    return static_cast<Scalar>(std::floor(time * 0x1p53) * 0x1p-53);
  else
    return time;
}

/// Spends the kinks of G and records, in one sweep, levels and slopes. The law follows the levels: rounding in G
/// may cost acceptance, never exactness.
template <class Scalar, class Coverage>
class LadderSweep {
 public:
  /// Corners (s_i, G_i) for i = 0 .. n; `held` is M, `touches` says where G_i = f(s_i), `ratio` p / q of each rung.
  LadderSweep(const std::vector<Scalar>& s, const std::vector<Scalar>& g, const std::vector<Scalar>& held,
              const std::vector<char>& touches, const std::vector<Scalar>& ratio, const Coverage& coverage)
      : s_{s}, coverage_{coverage}, breaks_(s.size()), segments_(2 * s.size()) {
    const int n = last();
    for (int i = 0; i <= n; ++i) {
      breaks_[at(i)].left = i - 1;
      breaks_[at(i)].right = i + 1;
      breaks_[at(i)].segment = i;  // the rung that starts at i
    }
    next_segment_ = n;
    // Rungs too narrow for the sums to tell their ends apart join a neighbour before anything is spent.
    for (int i = 1; i < n; ++i)
      if (!(s_[at(breaks_[at(i)].left)] < s_[at(i)] && s_[at(i)] < s_[at(n)])) merge(i, Scalar{0});
    // Of G between neighbours: f's where G touches it, p / q where nothing is held back, else by difference. The
    // first two keep their digits on narrow rungs, where a difference of sums has none.
    const auto slope = [&](int a, int b) -> Scalar {
      if (touches[at(a)] && touches[at(b)]) return chord(a, b);
      const bool flat = b == a + 1 && held[at(a)] == held[at(b)];
      return flat ? ratio[at(a)] : Scalar((g[at(b)] - g[at(a)]) / width(a, b));
    };
    for (int i = breaks_[0].right; i < n; i = breaks_[at(i)].right) {
      Break& b = breaks_[at(i)];
      b.rate = kink(b.left, i, b.right);
      const bool spent_with_f = touches[at(b.left)] && touches[at(i)] && touches[at(b.right)];
      b.kink = spent_with_f ? b.rate : Scalar(slope(b.left, i) - slope(i, b.right));
      if (b.kink < Scalar{0}) b.kink = Scalar{0};  // rounding only: G is concave
      schedule(i);
    }
  }

  void run(LadderPlan<Scalar>& plan) {
    const int n = last();
    plan.level.assign(at(std::max(n, 1)), Scalar{1});
    for (int i = 1; i < n; ++i)
      if (breaks_[at(i)].gone) plan.level[at(i)] = Scalar{0};
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      Break& b = breaks_[at(event.index)];
      if (b.gone || event.version != b.version) continue;
      if (!(event.time < Scalar{1})) break;
      plan.level[at(event.index)] = event.time;
      leave(event.index, event.time);
    }
    for (int i = 0; i < n; i = breaks_[at(i)].right) close(i, Scalar{1});
    // A rung's slope is the sum over the segments it was ever part of; parents come after their children.
    for (int segment = next_segment_; segment-- > 0;)
      if (const int parent = segments_[at(segment)].parent; parent >= 0)
        segments_[at(segment)].share += segments_[at(parent)].share;
    plan.slope.clear();
    for (int i = 0; i < n; ++i) plan.slope.push_back(segments_[at(i)].share);
  }

 private:
  struct Break {
    int left, right;  ///< neighbours that still stand
    int segment;      ///< the segment to the right
    bool gone = false;
    int version = 0;
    Scalar kink{0}, rate{0}, since{0};
  };
  struct Segment {
    int parent = -1;
    Scalar born{0}, share{0};
  };
  struct Event {
    Scalar time;
    int index, version;
    bool operator>(const Event& other) const {
      return time > other.time || (time == other.time && index > other.index);
    }
  };

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  int last() const { return static_cast<int>(s_.size()) - 1; }
  Scalar width(int a, int b) const { return s_[at(b)] - s_[at(a)]; }
  Scalar missed(int i) const { return Scalar{1} - s_[at(i)]; }

  /// Slope of f between two breaks.
  Scalar chord(int a, int b) const { return coverage_.chord(missed(a), missed(b)); }
  /// Slope of f left of break i minus right of it, between neighbours a and c.
  Scalar kink(int a, int i, int c) const { return width(a, c) * coverage_.bend(missed(a), missed(i), missed(c)); }

  void schedule(int i) {
    Break& b = breaks_[at(i)];
    ++b.version;                        // whatever was scheduled before no longer holds
    if (!(b.rate > Scalar{0})) return;  // f is straight here: the break never leaves
    const Scalar time = on_grid(Scalar(b.since + b.kink / b.rate));
    events_.push({std::max(time, b.since), i, b.version});
  }

  /// Ends the segment right of break i at `time`.
  void close(int i, const Scalar& time) {
    const int a = i, b = breaks_[at(i)].right;
    Segment& segment = segments_[at(breaks_[at(i)].segment)];
    segment.share += chord(a, b) * (time - segment.born);
  }

  void leave(int i, const Scalar& time) {
    const Break& b = breaks_[at(i)];
    close(b.left, time);
    close(i, time);
    merge(i, time);
    if (b.left > 0) respeed(b.left, time);
    if (b.right < last()) respeed(b.right, time);
  }

  /// The segments on both sides of break i become one, born at `time`.
  void merge(int i, const Scalar& time) {
    Break& b = breaks_[at(i)];
    b.gone = true;
    Break& left = breaks_[at(b.left)];
    const int merged = next_segment_++;
    segments_[at(left.segment)].parent = segments_[at(b.segment)].parent = merged;
    segments_[at(merged)].born = time;
    left.segment = merged;
    left.right = b.right;
    breaks_[at(b.right)].left = b.left;
  }

  /// Neighbours changed: spend what was spent so far, go on at the new rate.
  void respeed(int i, const Scalar& time) {
    Break& b = breaks_[at(i)];
    b.kink -= b.rate * (time - b.since);
    if (b.kink < Scalar{0}) b.kink = Scalar{0};
    b.since = time;
    b.rate = kink(b.left, i, b.right);
    schedule(i);
  }

  const std::vector<Scalar>& s_;
  const Coverage& coverage_;
  std::vector<Break> breaks_;
  std::vector<Segment> segments_;
  int next_segment_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<Event>> events_;
};

}  // namespace detail

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

/// The plan for i.i.d. drafts whose number `coverage` knows, on the rungs of `laws`.
template <class L, class Rungs, class Coverage>
LadderPlan<typename L::Scalar> plan_ladder(const L& laws, const Rungs& rungs, const Coverage& coverage) {
  using Scalar = typename L::Scalar;
  const int n = rungs.size();
  std::vector<Scalar> s, g, excess, unserved;
  for (int i = 0; i <= n; ++i) {
    s.push_back(rungs.proposal_below(i));
    excess.push_back(rungs.target_below(i) - (Scalar{1} - coverage.none(Scalar(Scalar{1} - s.back()))));
    unserved.push_back(std::max<Scalar>(excess.back(), Scalar{0}));
  }
  const auto peak = std::max_element(unserved.begin(), unserved.end());
  LadderPlan<Scalar> plan;
  plan.acceptance = Scalar{1} - *peak;
  for (auto i = unserved.begin(); i < peak; ++i) i[1] = std::max<Scalar>(i[0], i[1]);
  for (auto i = unserved.end() - 1; i > peak; --i) i[-1] = std::max<Scalar>(i[-1], i[0]);
  std::vector<char> touches;
  for (int i = 0; i <= n; ++i) {
    const auto place = static_cast<std::size_t>(i);
    g.push_back(rungs.target_below(i) - unserved[place]);
    touches.push_back(unserved[place] == excess[place]);
  }
  const auto ratio = rung_ratios(laws, rungs);
  detail::LadderSweep<Scalar, Coverage>(s, g, unserved, touches, ratio, coverage).run(plan);
  return plan;
}

}  // namespace draftproof
