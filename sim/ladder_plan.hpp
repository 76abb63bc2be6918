// The plan of the ladder: which breaks between rungs stand at which level, and the law of the draft they select.
//
//   s_i, P_i   rungs.proposal_below(i), target_below(i)     q- and p-mass of the first i rungs
//   f(s)       1 - (1 - s)^K                                probability that some draft falls in the first s of q
//   D_i        (P_i - f(s_i))+                              target mass that drafts above break i cannot serve
//   M_i        running maximum of D towards its argmax i*   from the left before i*, from the right after it
//   G_i        P_i - M_i                                    mass the selected draft has in the first i rungs
//   c_i        level of break i, in [0, 1]                  up with probability c_i
//
// Every concave G <= f with the same ends is a mixture of chords of f over nested sets of breaks; the levels are the
// times at which breaks leave while kinks of G are spent at the rate of f's. Cost: O(n log n). Derived in
// docs/ladder.md.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <queue>
#include <type_traits>
#include <vector>

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
template <class Scalar>
class LadderSweep {
 public:
  /// Corners (s_i, f_i, G_i) for i = 0 .. n.
  LadderSweep(const std::vector<Scalar>& s, const std::vector<Scalar>& f, const std::vector<Scalar>& g)
      : s_{s}, f_{f}, breaks_(s.size()), segments_(2 * s.size()) {
    const int n = last();
    for (int i = 0; i <= n; ++i) {
      breaks_[at(i)].left = i - 1;
      breaks_[at(i)].right = i + 1;
      breaks_[at(i)].segment = i;  // the rung that starts at i
    }
    next_segment_ = n;
    for (int i = 1; i < n; ++i) {
      Break& b = breaks_[at(i)];
      b.kink = chord(g, i - 1, i) - chord(g, i, i + 1);
      if (b.kink < Scalar{0}) b.kink = Scalar{0};  // rounding only: G is concave
      b.rate = chord(f_, i - 1, i) - chord(f_, i, i + 1);
      schedule(i);
    }
  }

  void run(LadderPlan<Scalar>& plan) {
    const int n = last();
    plan.level.assign(at(std::max(n, 1)), Scalar{1});
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
  Scalar chord(const std::vector<Scalar>& h, int a, int b) const {
    return (h[at(b)] - h[at(a)]) / (s_[at(b)] - s_[at(a)]);
  }

  void schedule(int i) {
    Break& b = breaks_[at(i)];
    if (!(b.rate > Scalar{0})) return;  // f is straight here: the break never leaves
    const Scalar time = on_grid(Scalar(b.since + b.kink / b.rate));
    events_.push({std::max(time, b.since), i, ++b.version});
  }

  /// Ends the segment right of break i at `time`.
  void close(int i, const Scalar& time) {
    const int a = i, b = breaks_[at(i)].right;
    Segment& segment = segments_[at(breaks_[at(i)].segment)];
    segment.share += chord(f_, a, b) * (time - segment.born);
  }

  void leave(int i, const Scalar& time) {
    Break& b = breaks_[at(i)];
    b.gone = true;
    close(b.left, time);
    close(i, time);
    Break& left = breaks_[at(b.left)];
    const int merged = next_segment_++;
    segments_[at(left.segment)].parent = segments_[at(b.segment)].parent = merged;
    segments_[at(merged)].born = time;
    left.segment = merged;
    left.right = b.right;
    breaks_[at(b.right)].left = b.left;
    if (b.left > 0) respeed(b.left, time);
    if (b.right < last()) respeed(b.right, time);
  }

  /// Neighbours changed: spend what was spent so far, go on at the new rate.
  void respeed(int i, const Scalar& time) {
    Break& b = breaks_[at(i)];
    b.kink -= b.rate * (time - b.since);
    if (b.kink < Scalar{0}) b.kink = Scalar{0};
    b.since = time;
    b.rate = chord(f_, b.left, i) - chord(f_, i, b.right);
    schedule(i);
  }

  const std::vector<Scalar>&s_, &f_;
  std::vector<Break> breaks_;
  std::vector<Segment> segments_;
  int next_segment_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<Event>> events_;
};

}  // namespace detail

/// The plan for K = `drafts` independent drafts on these rungs.
template <class Scalar, class Rungs>
LadderPlan<Scalar> plan_ladder(const Rungs& rungs, int drafts) {
  const int n = rungs.size();
  std::vector<Scalar> s, f, g, unserved;
  for (int i = 0; i <= n; ++i) {
    s.push_back(rungs.proposal_below(i));
    const Scalar missed = Scalar{1} - s.back();
    Scalar all_missed{1};
    for (int k = 0; k < drafts; ++k) all_missed *= missed;
    f.push_back(Scalar{1} - all_missed);
    const Scalar excess = rungs.target_below(i) - f.back();
    unserved.push_back(std::max<Scalar>(excess, Scalar{0}));
  }
  const auto peak = std::max_element(unserved.begin(), unserved.end());
  LadderPlan<Scalar> plan;
  plan.acceptance = Scalar{1} - *peak;
  for (auto i = unserved.begin(); i < peak; ++i) i[1] = std::max<Scalar>(i[0], i[1]);
  for (auto i = unserved.end() - 1; i > peak; --i) i[-1] = std::max<Scalar>(i[-1], i[0]);
  for (int i = 0; i <= n; ++i) g.push_back(rungs.target_below(i) - unserved[static_cast<std::size_t>(i)]);
  detail::LadderSweep<Scalar>(s, f, g).run(plan);
  return plan;
}

}  // namespace draftproof
