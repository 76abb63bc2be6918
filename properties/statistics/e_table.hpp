// The e-values of one table of counts: ETable against a deviation spread over cells, log_e_single_cell()
// against a deviation in a single cell. ETable averages 44 bets (log_gamma_poisson) of different sizes that
// favour different cells.
//
//   w_i       null_distribution   null probability of cell i; cells of probability 0 are dropped first
//   X_i       counts              accumulated over all batches
//   n         exposure            sum of the planned batch sizes, never the realised numbers of trials
//   c         concentrations      10^0 .. 10^10
//   kappa     powers              0, 1/3, 2/3, 1: from favouring heavy tokens to Pearson's weighting
//   a_i                           c w_i^kappa / mean over cells of w^kappa
//
//   e = average over c and kappa of the product over i of e(X_i; n w_i, a_i)
//
// A count in a dropped cell proves that the null is false: e is infinite.
//
// Cost: as in weighted_cells.hpp; then up to four logarithms for every remaining cell and each of the 44 bets.
//
// Error: the errors of count_models.hpp and weighted_cells.hpp sum to less than 2e-4 for n up to 2^31 and 2^21
// cells, for any counts. Alarm thresholds are raised by 1e-3 to allow for this error (error_budget.hpp).
//
// Correctness: the e-value of each cell has mean 1, cells are independent under the null (Poisson numbers of trials),
// and the a_i do not depend on counts or exposure. Any fixed positive a_i would do; an a_i below 1e-150 is raised to
// 1e-150.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <draftproof/properties/statistics/weighted_cells.hpp>

namespace draftproof {

// The e-value against one wrong token among many. It bets on every token separately and averages the bets, so
// the noise of the other tokens does not hide a deviation at a single token.
//
//   w_i, X_i, n    null_distribution, counts, exposure    as above
//   c              10^-1 .. 10^8                 shape of the bet, ten values
//
//   e = average over c of the average over tokens i with w_i > 0 of e(X_i; n w_i, c)
//
// Cost: 10 V bets.
//
// Correctness: an average of e-values with fixed weights is an e-value, for any dependence between them. The
// averages over tokens and over shapes reduce log e by at most log V + log 10.

/// Returns log of the average of one cell's ten bets; mean > 0. The worst cell of a table is the cell with the largest
/// value.
double log_e_spike(double count, double mean);

/// Returns log e over all cells: infinity if a cell of probability 0 has a count, 0 if `exposure` is 0.
double log_e_single_cell(std::span<const double> null_distribution, std::span<const std::uint64_t> counts,
                         double exposure);

class ETable {
 public:
  /// `null_distribution`: probabilities that sum to 1 or less, at least one of them positive.
  explicit ETable(std::span<const double> null_distribution);

  /// Returns log e. `counts` has a cell for every null probability. The result is 0 if `exposure` is 0, and infinity if
  /// a cell of probability 0 has a count. The bets are computed in parallel; the result does not depend on the number
  /// of threads.
  double log_e(std::span<const std::uint64_t> counts, double exposure) const;

 private:
  static constexpr std::size_t powers = 4, concentrations = 11;

  std::size_t size_;
  std::vector<std::uint32_t> order_;  ///< cells of positive probability, ascending
  std::vector<std::uint32_t> dropped_;
  CellShortener cells_;
  std::array<double, powers> mean_power_{};
};

}  // namespace draftproof
