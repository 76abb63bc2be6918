// The sweep that turns a concave G into levels: every standing break spends its kink of G at the rate of f's kink
// there, and leaves when it is spent; only its two neighbours then change their rates.
//
//   A_j       break.missed       1 - s, the q-mass below standing break j; 1 at the first corner, 0 at the last
//   kink_j    break.kink         left minus right slope of what is left of G at j
//   rate_j    break.rate         the same of the interpolant of f at the breaks that stand
//   time_j    break.time         when the break leaves if its neighbours stay; 1 if never
//   share     segment.share      chord of f times how long the segment stood: sums to the slopes of the selected law
//
// Cost: O(n log n), of which the heap holds only breaks that leave before both neighbours do. Derived in
// docs/ladder.md. Right because f is concave: where a neighbour leaves, the rate rises, so times only ever fall, to
// no less than the present. Hence a break that leaves after a neighbour goes on doing so until that neighbour has
// left, the next to leave is always in the heap, and only the two beside it can have become candidates.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace draftproof {

template <class Scalar>
struct LadderPlan {
  std::vector<Scalar> level;  ///< of break i, the one below rung i, for i = 1 .. n - 1; index 0 unused
  std::vector<Scalar> slope;  ///< selected law over q, for each of the n rungs
  std::vector<int> leaving;   ///< breaks of level above 0 and below 1, by rising level
  Scalar acceptance{0};       ///< of the best verifier that keeps to these rungs
};

/// A concave G <= f with the same ends, at the corners that stand at first.
template <class Scalar>
struct LadderGoal {
  std::vector<int> corner;    ///< rungs above it; from 0 to n
  std::vector<Scalar> s;      ///< their q-mass, strictly rising
  std::vector<char> on_f;     ///< from this corner to the next G is the chord of f
  std::vector<Scalar> slope;  ///< of G from this corner to the next, where that is not so
};

namespace detail {

/// Levels are compared with uniforms on the 53-bit grid: rounding them down to it makes both sides exact.
template <class Scalar>
Scalar on_grid(const Scalar& time) {
  if constexpr (std::is_floating_point_v<Scalar>)
    return static_cast<Scalar>(static_cast<double>(static_cast<std::int64_t>(time * 0x1p53)) * 0x1p-53);
  else
    return time;
}

/// A binary heap of times, the least on top, ties by index.
template <class Scalar>
class Departures {
 public:
  struct Event {
    Scalar time;
    int index;
    bool before(const Event& other) const { return time < other.time || (time == other.time && index < other.index); }
  };

  void reserve(std::size_t count) { events_.reserve(count); }
  bool empty() const { return events_.empty(); }
  const Event& top() const { return events_.front(); }
  void push(Event event) {
    std::size_t i = events_.size();
    events_.push_back(event);
    for (; i > 0 && event.before(events_[(i - 1) / 2]); i = (i - 1) / 2) events_[i] = events_[(i - 1) / 2];
    events_[i] = std::move(event);
  }
  void pop() {
    Event last = std::move(events_.back());
    events_.pop_back();
    if (!events_.empty()) replace_top(std::move(last));
  }
  void replace_top(Event event) {
    std::size_t i = 0;
    for (std::size_t child; (child = 2 * i + 1) < events_.size(); i = child) {
      if (child + 1 < events_.size()) child += events_[child + 1].before(events_[child]);
      if (!events_[child].before(event)) break;
      events_[i] = std::move(events_[child]);
    }
    events_[i] = std::move(event);
  }

 private:
  std::vector<Event> events_;
};

/// Spends the kinks of G and records, in one sweep, levels and slopes. The law follows the levels: rounding in G
/// may cost acceptance, never exactness.
template <class Scalar, class Coverage>
class LadderSweep {
 public:
  LadderSweep(const LadderGoal<Scalar>& goal, const Coverage& coverage)
      : coverage_{coverage}, goal_{goal}, breaks_(goal.corner.size()) {
    const int n = last();
    segments_.reserve(2 * breaks_.size());
    departures_.reserve(breaks_.size());
    for (int j = 0; j <= n; ++j) {
      Break& b = breaks_[at(j)];
      b.below = goal.s[at(j)];
      b.missed = Scalar{1} - b.below;
      b.left = j - 1;
      b.right = j + 1;
      b.segment = j;  // the one that starts here
    }
    for (int j = 0; j < n; ++j) segments_.push_back({-1, Scalar{0}, chord(j, j + 1), Scalar{0}});
    for (int j = 1; j < n; ++j) {
      Break& b = breaks_[at(j)];
      b.rate = kink(b);
      const bool spent_with_f = goal.on_f[at(j - 1)] && goal.on_f[at(j)];
      b.kink = spent_with_f ? b.rate : Scalar(slope(j - 1) - slope(j));
      if (b.kink < Scalar{0}) b.kink = Scalar{0};  // rounding only: G is concave
      schedule(b);
    }
    for (int j = 1; j < n; ++j)
      if (candidate(j)) departures_.push({breaks_[at(j)].time, j});
  }

  /// `rungs`: how many there are between the first corner and the last.
  void run(LadderPlan<Scalar>& plan, int rungs) {
    const int n = last();
    plan.level.assign(at(std::max(rungs, 1)), Scalar{0});
    for (int j = 1; j < n; ++j) plan.level[at(goal_.corner[at(j)])] = Scalar{1};
    while (!departures_.empty()) {
      const auto event = departures_.top();
      Break& b = breaks_[at(event.index)];
      if (b.gone || !(b.time == event.time)) {  // scheduled anew since
        departures_.pop();
        continue;
      }
      const int i = goal_.corner[at(event.index)];
      plan.level[at(i)] = event.time;
      if (event.time > Scalar{0}) plan.leaving.push_back(i);
      leave(b, event.time);
    }
    for (int j = 0; j < n; j = breaks_[at(j)].right) close(breaks_[at(j)], Scalar{1});
    // A rung's slope is the sum over the segments it was ever part of; parents come after their children.
    for (std::size_t segment = segments_.size(); segment-- > 0;)
      if (const int parent = segments_[segment].parent; parent >= 0)
        segments_[segment].share += segments_[at(parent)].share;
    plan.slope.clear();
    plan.slope.reserve(at(rungs));
    for (int j = 0; j < n; ++j)
      plan.slope.insert(plan.slope.end(), at(goal_.corner[at(j + 1)] - goal_.corner[at(j)]), segments_[at(j)].share);
  }

 private:
  struct Break {
    Scalar missed{0}, below{0}, kink{0}, rate{0}, since{0}, time{1};
    int left, right;  ///< neighbours that still stand
    int segment;      ///< the segment to the right
    bool gone = false;
  };
  struct Segment {
    int parent;
    Scalar born, chord, share;
  };

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  int last() const { return static_cast<int>(goal_.corner.size()) - 1; }
  /// Of G right of break j, as it is given.
  const Scalar& slope(int j) const { return goal_.on_f[at(j)] ? segments_[at(j)].chord : goal_.slope[at(j)]; }

  /// Slope of f between two breaks.
  Scalar chord(int a, int b) const { return coverage_.chord(breaks_[at(a)].missed, breaks_[at(b)].missed); }
  /// Slope of f left of a break minus right of it, between its neighbours.
  Scalar kink(const Break& b) const {
    const Break &left = breaks_[at(b.left)], &right = breaks_[at(b.right)];
    return (right.below - left.below) * coverage_.bend(left.missed, b.missed, right.missed);
  }

  void schedule(Break& b) {
    if (!(b.rate > Scalar{0})) return;  // f is straight here: the break never leaves
    const Scalar time = b.since + b.kink / b.rate;
    if (time < b.time) b.time = std::max<Scalar>(on_grid(time), b.since);
  }
  bool before(int i, int j) const {
    const Scalar &a = breaks_[at(i)].time, &b = breaks_[at(j)].time;
    return a < b || (a == b && i < j);
  }
  bool candidate(int j) const {
    const Break& b = breaks_[at(j)];
    return b.time < Scalar{1} && before(j, b.left) && before(j, b.right);
  }

  /// Ends the segment right of a break at `time`.
  void close(const Break& b, const Scalar& time) {
    Segment& segment = segments_[at(b.segment)];
    segment.share += segment.chord * (time - segment.born);
  }

  /// The break on top of the heap: the segments on both sides of it become one.
  void leave(Break& b, const Scalar& time) {
    Break &left = breaks_[at(b.left)], &right = breaks_[at(b.right)];
    close(left, time);
    close(b, time);
    const int merged = static_cast<int>(segments_.size());
    segments_[at(left.segment)].parent = segments_[at(b.segment)].parent = merged;
    segments_.push_back({-1, time, chord(b.left, b.right), Scalar{0}});
    b.gone = true;
    left.segment = merged;
    left.right = b.right;
    right.left = b.left;
    if (b.left > 0) respeed(left, time);
    if (b.right < last()) respeed(right, time);
    // Neighbours of each other now: at most one of the two leaves next.
    const int next = before(b.left, b.right) ? b.left : b.right;
    if (candidate(next))
      departures_.replace_top({breaks_[at(next)].time, next});
    else
      departures_.pop();
  }

  /// Neighbours changed: spend what was spent so far, go on at the new rate.
  void respeed(Break& b, const Scalar& time) {
    b.kink -= b.rate * (time - b.since);
    if (b.kink < Scalar{0}) b.kink = Scalar{0};
    b.since = time;
    b.rate = kink(b);
    schedule(b);
  }

  const Coverage& coverage_;
  const LadderGoal<Scalar>& goal_;
  std::vector<Break> breaks_;
  std::vector<Segment> segments_;
  Departures<Scalar> departures_;
};

}  // namespace detail
}  // namespace draftproof
