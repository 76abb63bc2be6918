// The workspace in which a plan is made: the threads that make it and the memory of its lists. On the host a workspace
// is one thread and vectors. On a device it is a team (the threads that work on one position) and memory that they
// share (gpu/teams/team_workspace.cuh). Plans of ladders use these calls, so host and device compile the same code.
//
//   persistent<T>(n)                    list of n items for the life of the plan
//   scratch<T>(n)                       list of n items until release_scratch()
//   each(n, f)                          calls f(i) for i < n, on any thread
//   once(f)                             calls f() on one thread; returns the result on all threads
//   scan(n, none, value, join, visit)   calls visit(i, before, value(i)) for i < n; `before` is the join of the values
//                                       below i. Returns the join of all values. `join` is associative, `none` is its
//                                       neutral element
//   chain(n, follows, visit)            j_0 = 0; j_k+1 is the first j > j_k below n with follows(j_k, j). Calls
//                                       visit(k - 1, j_k) for k = 1, 2, ..; returns the number of these calls
//   first(a, b, holds)                  first i in [a, b) with holds(i), b if there is no such i
//   Index                               integer type for the number of a bin
//
// When a call returns, its effects are visible to all threads.
// Correctness: no result depends on the assignment of work to threads: f and visit of different i write to different
// addresses, and `join` is a sum of integers or a maximum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include <draftproof/sim/device/host_device.hpp>

namespace draftproof {

/// The workspace of one host thread.
struct HostWorkspace {
  template <class T>
  using List = std::vector<T>;
  using Index = int;

  template <class T>
  static List<T> persistent(int size) {
    return List<T>(static_cast<std::size_t>(size));
  }
  template <class T>
  static List<T> scratch(int size) {
    return List<T>(static_cast<std::size_t>(size));
  }
  static void release_scratch() {}

  template <class F>
  static void each(int count, const F& f) {
    for (int i = 0; i < count; ++i) f(i);
  }
  template <class F>
  static auto once(const F& f) {
    return f();
  }
  template <class T, class Value, class Join, class Visit>
  static T scan(int count, T before, const Value& value, const Join& join, const Visit& visit) {
    for (int i = 0; i < count; ++i) {
      const T own = value(i);
      visit(i, before, own);
      before = join(before, own);
    }
    return before;
  }
  template <class Follows, class Visit>
  static int chain(int count, const Follows& follows, const Visit& visit) {
    int found = 0;
    for (int i = 1, last = 0; i < count; ++i)
      if (follows(last, i)) visit(found++, last = i);
    return found;
  }
  template <class Holds>
  static int first(int begin, int end, const Holds& holds) {
    while (begin < end && !holds(begin)) ++begin;
    return begin;
  }
};

/// Whether the threads of a team make plans for these distributions together.
template <class L>
concept PlannedByTeam = requires(const L& distributions) {
  distributions.workspace();
};

/// Returns the workspace in which plans for these distributions are made.
template <class L>
DRAFTPROOF_DEVICE decltype(auto) workspace_of([[maybe_unused]] const L& distributions) {
  if constexpr (PlannedByTeam<L>)
    return distributions.workspace();
  else
    return HostWorkspace{};
}
template <class L>
using WorkspaceOf = std::remove_cvref_t<decltype(workspace_of(std::declval<const L&>()))>;

/// The list type of a workspace: a vector on the host, a list in memory that the team shares on a device.
template <class Workspace, class T>
using ListIn = typename Workspace::template List<T>;

/// A list given by its address and size.
template <class T>
struct ListView {
  const T* items;
  std::size_t count;
  DRAFTPROOF_DEVICE std::size_t size() const { return count; }
  DRAFTPROOF_DEVICE const T& operator[](std::size_t i) const { return items[i]; }
};

/// A join that returns the greater value, or the first of equal values.
struct Greater {
  template <class T>
  DRAFTPROOF_DEVICE T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
};
/// A join that returns the sum.
struct Plus {
  template <class T>
  DRAFTPROOF_DEVICE T operator()(const T& a, const T& b) const {
    return a + b;
  }
};
/// A visit without effect.
struct NoVisit {
  DRAFTPROOF_DEVICE void operator()(int, const auto&, const auto&) const {}
};

/// A value and its index.
template <class T>
struct Placed {
  T value;
  std::int64_t place;
  /// Compares values only, so Greater returns the first of equal values.
  DRAFTPROOF_DEVICE bool operator<(const Placed& other) const { return value < other.value; }
};

/// Returns the index of the greatest of value(0) .. value(n - 1), the first of equal values; n > 0.
template <class Workspace, class Value>
DRAFTPROOF_DEVICE int place_of_greatest(const Workspace& workspace, int count, const Value& value) {
  using T = std::remove_cvref_t<decltype(value(0))>;
  return static_cast<int>(workspace
                              .scan(
                                  count, Placed<T>{value(0), 0},
                                  [&value](int i) {
                                    return Placed<T>{value(i), i};
                                  },
                                  Greater{}, NoVisit{})
                              .place);
}

}  // namespace draftproof
