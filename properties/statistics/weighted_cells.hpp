// Shortens a table of cells without changing the sums that e-values need. Many cells of equal count and nearly
// equal probability are replaced by nine weighted cells.
//
//   w           probability    probability of a cell, > 0; cells are sorted by w
//   X           count          count of a cell
//   run         runs_          successive cells with w in [w0 (1 - r), w0 (1 + r)], r = 1/33
//   T_k, t_j                   Chebyshev's polynomials and the nine roots of T_9, on a run
//   M_k                        sum of T_k over the cells of a run with the same X
//   W_j         weight         (1 / 9) (M_0 + 2 sum over k > 0 of T_k(t_j) M_k)
//
//   sum over these cells of f(w)  ~  sum over j of W_j f(w0 (1 + r t_j))
//
// Correctness: the right side integrates the polynomial through nine points of f. Every f used here is
// log_gamma_poisson as a function of w; its singularities are outside the right half plane, because 1 + E / a,
// a + j and a are powers of w with exponents in [0, 1] plus positive numbers. The largest ellipse in that plane
// with foci at the ends of a run has semi-axes that sum to more than 60 times r w0, so one value is off by at
// most 4 M 60^-8 / 59 < 5e-16 M (Bernstein's bound). M is the largest |f| on the ellipse, estimated at ten
// times X + E. The error is of the size of one rounding.
//
// If a run has up to nine cells with the same X, they are kept with weight 1.
//
// Cost: about 60 flops per cell, once for all 44 bets of an ETable. At V = 262144, K = 4 a table of 1.3 M
// cells shrinks to some 10^4 to 10^5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace draftproof {

/// Parallel arrays, one entry for each weighted cell.
struct WeightedCells {
  std::vector<double> probability, count, weight;
  std::size_t size() const { return weight.size(); }
};

class CellShortener {
 public:
  /// `ascending`: the cells' probabilities, > 0 and in ascending order.
  explicit CellShortener(std::vector<double> ascending);

  /// Returns the weighted cells for these counts; `counts[i]` belongs to the i-th probability.
  WeightedCells shorten(std::span<const std::uint64_t> counts) const;

  std::span<const double> probabilities() const { return probability_; }

 private:
  std::vector<double> probability_;
  std::vector<std::size_t> runs_;  ///< first cell of each run; the last entry is the number of cells
};

}  // namespace draftproof
