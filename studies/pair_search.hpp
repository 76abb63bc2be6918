// Searches for the least value of a function of (p, q) over all pairs of laws on V tokens, by a grid and local
// refinement. The result is evidence that nothing is smaller, not a proof.
//
//   n        resolution   grid: all laws whose masses are multiples of 1 / n, zeros included
//   starts   -            the best grid points, at most 8 of one target, each refined by random moves of both laws
//                         in steps that shrink
//
// Cost: C(n + V - 1, V - 1)^2 evaluations and 32 starts of at most 20,000 moves. Moves are random and not along axes,
// because ratios have ridges (where the optimum reaches 1) on which every move of a single coordinate is worse.
// The result depends on the seed and not on the number of threads, since every start has its own counters.
#pragma once

#include <functional>

#include <draftproof/studies/study.hpp>

namespace draftproof {

struct LeastPair {
  double value = 0;
  std::vector<double> p, q;
  std::uint64_t evaluations = 0;
  bool complete = true;  ///< false after a stop
};

using PairFunction = std::function<double(const std::vector<double>& p, const std::vector<double>& q)>;

/// Returns the least value found and its pair; `complete` is false after a stop.
LeastPair least_pair(const PairFunction& f, int vocabulary, int resolution, const StudyOptions& options);

}  // namespace draftproof
