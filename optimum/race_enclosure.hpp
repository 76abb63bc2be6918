// Both bounds of Pr(not all drafts in S) without replacement: the race of optimum/exponential_clocks.hpp once more,
// with its own arithmetic and with every error of it bounded. For checkers, not for speed.
//
//   q, c      add, missed     masses in units of 2^-62: exact
//   u         unit            half the spacing of long double at 1; 2^-64 on x86
//   y         bin_           1 - e^(-qt): a series on the first octave, y (2 - y) from octave to octave; no
//   library's
//                             exp takes part
//   E         error()         l1 distance of the counts of a node from the truth
//
// Cost: O(K M) a token and O(M) an enclosure, M = 200 to 600 nodes, long double. Source: docs/optimum.md, "Bounds
// that can be checked", derives every term. Width at V = 131,072 about 1e-13.
#pragma once

#include <cstdint>
#include <vector>

namespace draftproof {

struct Enclosure {
  long double lower, upper;
};

class RaceEnclosure {
 public:
  /// `slowest` is the smallest positive mass outside S that `missed` will be asked for.
  RaceEnclosure(int drafts, std::uint64_t slowest);

  /// A token of mass q > 0 joins S.
  void add(std::uint64_t q);

  /// Pr(not all drafts in S), with mass `outside` > 0 outside S.
  Enclosure missed(std::uint64_t outside) const;

 private:
  /// 1 - e^(-qt) at the first `count` nodes, within (4 + 2.01 octaves) u of itself.
  void ring(std::uint64_t q, std::size_t count, std::vector<long double>& bin) const;
  long double fewer(std::size_t n) const;
  long double error(std::size_t n) const;
  long double relative_error_of_bin() const;

  std::size_t drafts_, per_octave_;
  long double step_ = 0, step_error_ = 0;  ///< h, and what the rule errs by as a share of the integral
  std::size_t live_ = 0;                   ///< nodes whose Pr(N < K) is not yet negligible: a leading part
  std::size_t tokens_ = 0;
  long double dropped_ = 0;  ///< no node left out has a greater Pr(N < K)
  std::vector<long double> times_, bin_, counts_, bin_sum_;
};

}  // namespace draftproof
