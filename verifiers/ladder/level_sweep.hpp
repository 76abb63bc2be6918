// The sweep that computes the levels of a concave G. Time runs from 0 to 1. While a break stands, its kink of G (the
// change of the slope there) falls at the rate of the kink of f, and the break leaves when its kink is 0; this time is
// its level. A departure changes the rates of its two neighbours only.
//
//   A_j       break.missed        1 - s, the q-mass below standing break j; 1 at the first corner, 0 at the last
//   kink_j    break.kink          left minus right slope of the remaining G at j
//   rate_j    break.rate          the same for the interpolant of f at the standing breaks
//   time_j    break.time          time at which the break leaves if its neighbours stay; 1 if it never leaves
//   share     shares_[segment]    chord of f times the time the segment stood; sums of these are the slopes of the
//                                 selected distribution
//
// Cost: O(n log n); the heap holds only breaks that leave before both neighbours do.
// Correctness: f is concave, so the rate of a break rises when a neighbour leaves, and its time only falls, never
// below the present. A break that is due after one of its neighbours therefore stays due after it until that
// neighbour has left. Hence the next break to leave is always in the heap, and only the two neighbours of a departed
// break can become candidates (docs/ladder.md).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include <draftproof/sim/device/cooperative_memory.hpp>

namespace draftproof {

/// Corners that stood at time 0 and the q-mass above each. Kept for a team, whose bins are overwritten when a plan is
/// made.
template <class Scalar, class Workspace>
struct PlanCorners {
  ListIn<Workspace, typename Workspace::Index> corner;
  ListIn<Workspace, Scalar> s;
};
template <class Scalar>
struct PlanCorners<Scalar, HostWorkspace> {};

template <class Scalar, class Workspace = HostWorkspace>
struct LadderPlan : PlanCorners<Scalar, Workspace> {
  /// Level of the break with i bins above it, i = 1 .. n - 1; index 0 is unused. In scratch memory.
  ListIn<Workspace, Scalar> level;
  ListIn<Workspace, Scalar> slope;                       ///< probability of being selected over q, for each of n bins
  ListIn<Workspace, typename Workspace::Index> leaving;  ///< breaks of level above 0 and below 1, by ascending level
  Scalar acceptance{0};                                  ///< largest acceptance with these bins
};

/// A concave G <= f that equals f at both ends, given by the corners that stand at time 0.
template <class Scalar, class Workspace = HostWorkspace>
struct LadderGoal {
  ListIn<Workspace, typename Workspace::Index> corner;  ///< number of bins above each corner; from 0 to n
  ListIn<Workspace, Scalar> s;                          ///< q-mass of these bins, strictly ascending
  ListIn<Workspace, char> on_f;                         ///< whether G is the chord of f from this corner to the next
  ListIn<Workspace, Scalar> slope;                      ///< slope of G from this corner to the next, if not on_f
};

/// Coverage whose f is read at corners, given by the number of bins above: covered(i), chord(a, b).
template <class Coverage>
concept CoveredByPlace = requires {
  Coverage::by_place;
};
/// A CoveredByPlace whose last bin has unbounded width, so that a chord over this bin is 0.
template <class Coverage>
concept OpenEnded = CoveredByPlace<Coverage> && requires {
  Coverage::open_end;
};

namespace detail {

/// Levels are compared with uniforms on the 53-bit grid; rounding levels down to the grid makes the comparison exact.
template <class Scalar>
DRAFTPROOF_DEVICE Scalar on_grid(const Scalar& time) {
  if constexpr (std::is_floating_point_v<Scalar>)
    return static_cast<Scalar>(static_cast<double>(static_cast<std::int64_t>(time * 0x1p53)) * 0x1p-53);
  else
    return time;
}

/// A binary heap of times with the least on top, ties by index. `List` must be large enough for all events.
template <class Scalar, template <class> class List>
class Departures {
 public:
  struct Event {
    Scalar time;
    int index;
    DRAFTPROOF_DEVICE bool before(const Event& other) const {
      return time < other.time || (time == other.time && index < other.index);
    }
  };

  DRAFTPROOF_DEVICE explicit Departures(List<Event>& events) : events_{events} {}

  DRAFTPROOF_DEVICE bool empty() const { return size_ == 0; }
  DRAFTPROOF_DEVICE const Event& top() const { return events_[0]; }
  DRAFTPROOF_DEVICE void push(Event event) {
    std::size_t i = size_++;
    for (; i > 0 && event.before(events_[(i - 1) / 2]); i = (i - 1) / 2) events_[i] = events_[(i - 1) / 2];
    events_[i] = event;
  }
  DRAFTPROOF_DEVICE void pop() {
    const Event last = events_[--size_];
    if (size_ > 0) replace_top(last);
  }
  DRAFTPROOF_DEVICE void replace_top(const Event& event) {
    std::size_t i = 0;
    for (std::size_t child; (child = 2 * i + 1) < size_; i = child) {
      if (child + 1 < size_) child += events_[child + 1].before(events_[child]);
      if (!events_[child].before(event)) break;
      events_[i] = events_[child];
    }
    events_[i] = event;
  }

 private:
  List<Event>& events_;
  std::size_t size_ = 0;
};

template <class Scalar, class Index>
struct LadderBreak {
  Scalar missed{0}, kink{0}, rate{0}, since{0}, time{1};
  Scalar born{0}, chord{0};  ///< time when the segment to the right formed; its chord
  Index left{0}, right{0};   ///< standing neighbours
  Index segment{0};
  bool gone = false;
};

/// Computes levels and slopes from the kinks of G in one sweep. The distribution follows the levels, so rounding in G
/// can reduce acceptance but cannot make the scheme lossy.
template <class Scalar, class Coverage, class Workspace = HostWorkspace>
class LadderSweep {
 public:
  DRAFTPROOF_DEVICE LadderSweep(const Workspace& workspace, const LadderGoal<Scalar, Workspace>& goal,
                                const Coverage& coverage)
      : workspace_{workspace},
        coverage_{coverage},
        goal_{goal},
        last_{static_cast<int>(goal.corner.size()) - 1},
        breaks_(workspace.template scratch<Break>(last_ + 1)),
        shares_(workspace.template scratch<Scalar>(2 * last_)),
        parents_(workspace.template scratch<Index>(2 * last_)),
        events_(workspace.template scratch<Event>(last_ / 2 + 1)) {
    const int n = last_;
    workspace_.each(n + 1, [&](int j) {
      Break& b = breaks_[at(j)] = Break{};
      b.missed = Scalar{1} - goal_.s[at(j)];
      b.left = index(j - 1);
      b.right = index(j + 1);
      b.segment = index(j);  // the segment that starts here
    });
    workspace_.each(2 * n, [&](int segment) {
      shares_[at(segment)] = Scalar{0};
      parents_[at(segment)] = no_parent;
      if (segment < n) breaks_[at(segment)].chord = chord(segment);
    });
    workspace_.each(n - 1, [&](int i) {
      const int j = i + 1;
      Break& b = breaks_[at(j)];
      b.rate = kink(b);
      const bool spent_with_f = goal_.on_f[at(j - 1)] && goal_.on_f[at(j)];
      b.kink = spent_with_f ? b.rate : Scalar(slope(j - 1) - slope(j));
      if (b.kink < Scalar{0}) b.kink = Scalar{0};  // negative by rounding only, because G is concave
      schedule(b);
    });
  }

  /// Writes levels, slopes and leaving breaks to `plan`; `bins` is the number of bins.
  DRAFTPROOF_DEVICE void run(LadderPlan<Scalar, Workspace>& plan, int bins) {
    const int n = last_;
    plan.slope = workspace_.template persistent<Scalar>(bins);
    plan.leaving = workspace_.template persistent<Index>(n);
    plan.level = workspace_.template scratch<Scalar>(bins > 1 ? bins : 1);
    workspace_.each(static_cast<int>(plan.level.size()), [&](int i) { plan.level[at(i)] = Scalar{0}; });
    workspace_.each(n - 1, [&](int i) { plan.level[at(goal_.corner[at(i + 1)])] = Scalar{1}; });
    const int leaving = workspace_.once([&] {
      if constexpr (requires { Coverage::many_terms; })
        return spend_apart(plan);
      else
        return spend(plan);
    });
    plan.leaving.resize(at(leaving));
    workspace_.each(n, [&](int j) {
      // Below 0 only by rounding, on rows whose sum exceeds 1; a flip would then accept a token with p = 0.
      const Scalar share = shares_[at(j)] > Scalar{0} ? shares_[at(j)] : Scalar{0};
      for (int bin = goal_.corner[at(j)]; bin < static_cast<int>(goal_.corner[at(j + 1)]); ++bin)
        plan.slope[at(bin)] = share;
    });
  }

 private:
  using Index = typename Workspace::Index;
  using Event = typename Departures<Scalar, Workspace::template List>::Event;
  /// Marks a segment without a parent: only merged segments are parents, and segment 0 is not merged.
  static constexpr Index no_parent = 0;

  using Break = LadderBreak<Scalar, Index>;

  DRAFTPROOF_DEVICE static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  DRAFTPROOF_DEVICE static Index index(int i) { return static_cast<Index>(i); }
  /// Slope of G right of break j, as given.
  DRAFTPROOF_DEVICE const Scalar& slope(int j) const {
    return goal_.on_f[at(j)] ? breaks_[at(j)].chord : goal_.slope[at(j)];
  }

  /// Slope of f from corner j to the next.
  DRAFTPROOF_DEVICE Scalar chord(int j) const {
    if constexpr (CoveredByPlace<Coverage>)
      return coverage_.chord(goal_.corner[at(j)], goal_.corner[at(j + 1)]);
    else
      return coverage_.chord(breaks_[at(j)].missed, breaks_[at(j + 1)].missed);
  }
  /// Returns the slope of f across break b, which leaves, from its left to its right neighbour. If f has no closed
  /// form this is the mean of the slopes of the two segments beside b, weighted by differences of s; nothing cancels,
  /// and as a slope at s is at most 1 / s, one rounding of s changes f by one rounding of f.
  DRAFTPROOF_DEVICE Scalar joined_chord(const Break& b) const {
    if constexpr (OpenEnded<Coverage>)
      if (b.right == last_) return Scalar{0};
    if constexpr (CoveredByPlace<Coverage>) {
      const Scalar &from = goal_.s[at(b.left)], &to = goal_.s[at(b.right)],
                   &here = goal_.s[at(breaks_[at(b.left)].right)];
      const Scalar left = here - from, right = to - here;
      return (left * breaks_[at(b.left)].chord + right * b.chord) / (left + right);
    } else {
      return coverage_.chord(breaks_[at(b.left)].missed, breaks_[at(b.right)].missed);
    }
  }
  /// Slope of f from the left neighbour to the break, minus its slope from the break to the right neighbour.
  DRAFTPROOF_DEVICE Scalar kink(const Break& b) const {
    const Break &left = breaks_[at(b.left)], &right = breaks_[at(b.right)];
    if constexpr (CoveredByPlace<Coverage>)
      return left.chord - b.chord;
    else
      return (goal_.s[at(b.right)] - goal_.s[at(b.left)]) * coverage_.bend(left.missed, b.missed, right.missed);
  }

  DRAFTPROOF_DEVICE void schedule(Break& b) const {
    if (!(b.rate > Scalar{0})) return;  // f is straight here: the break never leaves
    const Scalar time = b.since + b.kink / b.rate;
    if (time < b.time) b.time = Greater{}(on_grid(time), b.since);
  }
  DRAFTPROOF_DEVICE bool before(int i, int j) const {
    const Scalar &a = breaks_[at(i)].time, &b = breaks_[at(j)].time;
    return a < b || (a == b && i < j);
  }
  DRAFTPROOF_DEVICE bool candidate(int j) const {
    const Break& b = breaks_[at(j)];
    return b.time < Scalar{1} && before(j, b.left) && before(j, b.right);
  }

  /// Processes all departures in one thread; returns how many breaks left after time 0.
  DRAFTPROOF_DEVICE int spend(LadderPlan<Scalar, Workspace>& plan) {
    const int n = last_;
    Departures<Scalar, Workspace::template List> departures(events_);  // never holds two neighbours
    for (int j = 1; j < n; ++j)
      if (candidate(j)) departures.push({breaks_[at(j)].time, j});
    int segments = n, leaving = 0;
    while (!departures.empty()) {
      const Event event = departures.top();
      Break& b = breaks_[at(event.index)];
      if (b.gone || !(b.time == event.time)) {  // the break was rescheduled
        departures.pop();
        continue;
      }
      const Index i = goal_.corner[at(event.index)];
      plan.level[at(i)] = event.time;
      if (event.time > Scalar{0}) plan.leaving[at(leaving++)] = i;
      leave(b, event.time, segments++);
      // The two neighbours of b are now adjacent: at most one of them leaves next.
      const int next = before(b.left, b.right) ? b.left : b.right;
      if (candidate(next))
        departures.replace_top({breaks_[at(next)].time, next});
      else
        departures.pop();
    }
    for (int j = 0; j < n; j = breaks_[at(j)].right) close(breaks_[at(j)], Scalar{1});
    // The slope of a bin is the sum over all segments that contained it; parents follow their children.
    for (int segment = segments; segment-- > 0;)
      if (const Index parent = parents_[at(segment)]; parent != no_parent)
        shares_[at(segment)] += shares_[at(parent)];
    return leaving;
  }

  /// Not inlined, because some coverages need many registers on a device.
  [[gnu::noinline]] DRAFTPROOF_DEVICE int spend_apart(LadderPlan<Scalar, Workspace>& plan) { return spend(plan); }

  /// Ends the segment right of a break at `time`.
  DRAFTPROOF_DEVICE void close(const Break& b, const Scalar& time) {
    shares_[at(b.segment)] += b.chord * (time - b.born);
  }

  /// Removes the break on top of the heap: the segments on its two sides become one.
  DRAFTPROOF_DEVICE void leave(Break& b, const Scalar& time, int merged) {
    Break &left = breaks_[at(b.left)], &right = breaks_[at(b.right)];
    const Scalar joined = joined_chord(b);
    close(left, time);
    close(b, time);
    parents_[at(left.segment)] = parents_[at(b.segment)] = index(merged);
    b.gone = true;
    left.segment = index(merged);
    left.born = time;
    left.chord = joined;
    left.right = b.right;
    right.left = b.left;
    if (b.left > 0) respeed(left, time);
    if (b.right < last_) respeed(right, time);
  }

  /// After a change of neighbours: reduces the kink by the part spent so far and sets the new rate.
  DRAFTPROOF_DEVICE void respeed(Break& b, const Scalar& time) {
    b.kink -= b.rate * (time - b.since);
    if (b.kink < Scalar{0}) b.kink = Scalar{0};
    b.since = time;
    b.rate = kink(b);
    schedule(b);
  }

  const Workspace& workspace_;
  const Coverage& coverage_;
  const LadderGoal<Scalar, Workspace>& goal_;
  int last_;
  ListIn<Workspace, Break> breaks_;
  ListIn<Workspace, Scalar> shares_;  ///< shares of the first n segments, then of merged ones; at most 2 n - 1
  ListIn<Workspace, Index> parents_;
  ListIn<Workspace, Event> events_;
};

}  // namespace detail

}  // namespace draftproof
