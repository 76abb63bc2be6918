// The e-value against one wrong token among many. It bets on every token alone and averages the bets, so the noise of
// the other tokens does not hide a deviation of one.
//
//   w_i, X_i, n    null_law, counts, exposure    as in e_table.hpp
//   c              10^-1 .. 10^8                 shape of the bet, ten values
//
//   e = average over c of the average over tokens i with w_i > 0 of e(X_i; n w_i, c)
//
// Cost: 10 V bets.
//
// Correctness: an average of e-values with fixed weights is an e-value, whatever their dependence. The averages over
// tokens and over shapes cost at most log V + log 10 of log e.
#pragma once

#include <cstdint>
#include <span>

namespace draftproof {

/// log of the average of one cell's ten bets; mean > 0. The worst cell of a table has the largest value.
double log_e_spike(double count, double mean);

/// log e over all cells. Infinity for a count in a cell of probability 0; 0 at exposure 0.
double log_e_single_cell(std::span<const double> null_law, std::span<const std::uint64_t> counts, double exposure);

}  // namespace draftproof
