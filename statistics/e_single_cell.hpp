// The e-value against one wrong token among many: every token is bet on alone, and the bets are averaged, so that a
// deviation of one token is not drowned by the noise of the others.
//
//   w_i, X_i, n    null_law, counts, exposure    as in e_table.hpp
//   c              10^-1 .. 10^8                 shape of the one bet, ten values
//
//   e = average over c of the average over tokens i with w_i > 0 of e(X_i; n w_i, c)
//
// Cost: 10 V bets. An average of e-values with fixed weights, hence one, whatever their dependence. It pays log V +
// log 10 for not knowing which token and how bold.
#pragma once

#include <cstdint>
#include <span>

namespace draftproof {

/// log of the average of one cell's ten bets; mean > 0. What names the worst cell of a table.
double log_e_spike(double count, double mean);

/// log e over all cells; infinity for a count in a cell of probability 0, 0 at exposure 0.
double log_e_single_cell(std::span<const double> null_law, std::span<const std::uint64_t> counts, double exposure);

}  // namespace draftproof
