// Bets that a share of each row's mass has moved to its most likely tokens, or away from them. There is a bet for each
// of a few shares: the likelihood ratio of this deviation, divided by an upper bound of its mean. The fixed factors of
// group_bets.hpp are optimal for one probability of the group only; these factors are optimal for each row.
//
//   cell        the outcome of a record: the most likely token or another, and under a rule the verdict and the draft
//   m_g, s_g    probability of cell g in a record's rows, and its slack (row_groups.hpp)
//   a_g         probability of cell g after the move
//   f           the bet: (a_g + s_g) / (m_g + s_g), between 1/16 and 256
//   M           mean of f: sum of m f / sum of m
//   U           upper bound of E f: M + sum |f - M| s / (1 - sum s)
//   e           product over records of f(cell) / U; the mean over shares
//
// Correctness: given the past each factor has mean at most 1 if the record follows a distribution within the
// slack of its rows, for any a_g, so each product and their mean are supermartingales with start 1.
//
// Growth: without slack f / U is the likelihood ratio, and E log(f / U) after the move is the relative entropy,
// which no test with this false-alarm probability exceeds except by chance (docs/traces.md).
//
// Cost: half a microsecond per record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <draftproof/properties/statistics/group_bets.hpp>

namespace draftproof {

class MovedMassBets {
 public:
  /// `cells` has a description of each cell, for reports.
  MovedMassBets(std::string name, std::vector<std::string> cells);

  /// Returns the shares of mass; a positive share moves to the most likely token, a negative share away from it.
  static std::span<const double> shares();

  /// Adds one record. `moved`: a_g for each of shares(), share by share.
  void add(std::span<const double> mass, std::span<const double> slack, std::span<const double> moved, int cell,
           std::uint64_t record);

  const std::string& name() const { return name_; }
  std::uint64_t draws() const { return draws_; }
  double log_e() const;
  /// Returns the cell with the largest excess. `observed` is 0 if every cell has at most its expected count.
  GroupExcess worst() const;

  /// Returns for each direction the smallest of shares() whose bet, with its weight times `weight`, reaches
  /// `log_threshold` with probability 0.99 after this move. The condition is G - 2.33 sqrt(V) >= the threshold less the
  /// log of the weight, where G and V are the sums over records of mean and variance of log(f / U) after the move. This
  /// is a normal approximation, so the result is an estimate and not a guarantee.
  std::vector<SmallestFound> smallest(double log_threshold, double weight) const;

 private:
  std::string name_;
  std::vector<CellCount> cells_;
  std::vector<double> log_e_, growth_, variance_;  // by share
  std::uint64_t draws_ = 0;
};

}  // namespace draftproof
