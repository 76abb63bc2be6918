// Lower and upper bound of Pr(not all drafts in S) without replacement. It repeats the race of
// optimum/exponential_clocks.hpp with separate arithmetic and bounds every error. It serves checkers; it is slow.
//
//   q, c      add, missed     masses in units of 2^-62: exact
//   u         half_ulp        half the spacing of long double at 1; 2^-64 on x86
//   y         bin_            1 - e^(-qt): a series on the first octave, y (2 - y) from octave to octave, without a
//                             library's exp
//   E         error()         l1 distance of a node's counts from the true counts
//
// Cost: O(K M) a token and O(M) an enclosure, M = 200 to 600 nodes, long double.
//
// Source: docs/optimum.md, "Bounds that can be checked", derives every term. Width at V = 131,072 about 1e-13.
#pragma once

#include <cstdint>
#include <vector>

namespace draftproof {

/// lower <= value <= upper.
struct Enclosure {
  long double lower, upper;
};

class RaceEnclosure {
 public:
  /// `slowest`: the smallest positive mass outside S with which `missed` will be called.
  RaceEnclosure(int drafts, std::uint64_t slowest);

  /// Adds a token of mass q > 0 to S.
  void add(std::uint64_t q);

  /// Bounds of Pr(not all drafts in S) if the mass outside S is `outside` > 0.
  Enclosure missed(std::uint64_t outside) const;

 private:
  /// 1 - e^(-qt) at the first `count` nodes, with a relative error of (4 + 2.01 octaves) u.
  void ring(std::uint64_t q, std::size_t count, std::vector<long double>& bin) const;
  long double fewer(std::size_t n) const;
  long double error(std::size_t n) const;
  long double relative_error_of_bin() const;

  std::size_t drafts_, per_octave_;
  long double step_ = 0, step_error_ = 0;  ///< h, and the rule's error as a share of the integral
  std::size_t live_ = 0;                   ///< number of nodes with non-negligible Pr(N < K): a leading part
  std::size_t tokens_ = 0;
  long double dropped_ = 0;  ///< upper bound of Pr(N < K) at the dropped nodes
  std::vector<long double> times_, bin_, counts_, bin_sum_;
};

}  // namespace draftproof
