// Bets on the group of a draw whose distribution changes from record to record. Every draw occurs once, so
// single tokens cannot be counted; groups of tokens can.
//
//   m_g, s_g    probability of group g in a record's row, and its slack (row_groups.hpp)
//   f           a bet: positive numbers by group, fixed before the record
//   U           upper bound of E f:  sum m f + sum |f - sum m f| s / (1 - sum s)
//   e           product over records of f(group of the draw) / U
//
//   steps       f = c on the groups before a cut, 1 behind it;  c from 1/256 to 256
//   tilts       f = exp(theta score_g), for a few scores
//   learned     f = (k + draws so far) / (k + expected so far);  k = 30, 300, 3000, 30000
//
// The e-value is the mean over bets, with weights 1/2, 3/10 and 1/5 for the three kinds. Records belong to
// parts (positions in a block). log_e() multiplies over all records, log_e_of_parts() is the mean over parts of
// such products.
//
// Correctness: given the past each factor has mean at most 1 if the draw follows a distribution within the
// slack of the row, so each product, and each mean of products with fixed weights, is a supermartingale with
// start 1 (Ville: it ever reaches 1 / alpha with probability at most alpha). U is computed with a relative
// error below 1e-12.
//
// Cost: about 2 us per record for a bank of 350 bets.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace draftproof {

/// A cut between groups. `before` and `behind` describe the groups on its two sides, for reports.
struct GroupCut {
  int first = 0;  ///< first group behind the cut
  std::string before, behind;
};

/// A score of each group, such as "temperature of p".
struct GroupScore {
  std::string name;
  std::vector<double> score;
  std::vector<double> tilts;  ///< theta
};

struct GroupDesign {
  std::string name;  ///< name of the bank
  int groups = 0;
  std::vector<GroupCut> cuts;
  std::vector<GroupScore> scores{};
  bool learned = true;
};

/// Draws of a cell whose probability changes from record to record.
struct CellCount {
  static constexpr std::size_t most_first = 5;

  std::string where;
  double expected = 0, variance = 0;  ///< sums of m and m (1 - m) for the probabilities m
  std::uint64_t seen = 0;
  std::vector<std::uint64_t> first{};  ///< the first records in which the cell was drawn, at most `most_first`

  /// Adds one record, in which the cell has this probability; `drawn`: whether it was drawn.
  void add(double probability, bool drawn, std::uint64_t record) {
    expected += probability;
    variance += probability * (1 - probability);
    seen += drawn;
    if (drawn && first.size() < most_first) first.push_back(record);
  }
};

/// Observed and expected draws on one side of a cut.
struct GroupExcess {
  std::string where;
  double observed = 0, expected = 0;
  double deviations = 0;               ///< (observed - expected) / standard deviation of observed
  std::vector<std::uint64_t> first{};  ///< the first records of the side with more than expected, at most 5

  /// Replaces this excess by the excess of `cell` if `cell` deviates by more standard deviations.
  void raise(const CellCount& cell) {
    const auto count = static_cast<double>(cell.seen);
    const double more = (count - cell.expected) / std::sqrt(cell.variance);
    if (cell.variance > 0 && more > deviations) *this = {cell.where, count, cell.expected, more, cell.first};
  }
};

/// The smallest deviation along a direction that would have been detected (see smallest()).
struct SmallestFound {
  std::string direction;
  double total_variation = 0;  ///< mean over records
  double tilt = 0;             ///< theta for a score, 0 for a cut
};

class GroupBets {
 public:
  GroupBets(GroupDesign design, int parts);

  /// Adds one draw: its row's groups, its group, the number of the record in reports, and its part.
  void add(std::span<const double> mass, std::span<const double> slack, int group, std::uint64_t record, int part);

  const std::string& name() const { return design_.name; }
  std::uint64_t draws() const { return draws_; }
  double log_e() const;
  double log_e_of_parts() const;
  /// Returns the side of a cut with the largest positive excess, over all parts or in one (part >= 0).
  /// `observed` is 0 if no draw was added.
  GroupExcess worst(int part = -1) const;
  /// Returns the number of draws of a part.
  std::uint64_t draws_of(int part) const { return parts_[static_cast<std::size_t>(part)].draws; }

  /// Returns for every cut and every score the smallest total variation at which its bet alone, with its weight
  /// times `weight`, reaches `log_threshold` with probability 0.99. The results come from normal approximations, so
  /// they are estimates and not guarantees.
  ///
  /// For a cut, a share d of the records moves to one side; some row must have mass on both sides. With N records, M
  /// expected before the cut and variance V,
  ///   log e = (M + N d) log c - sum log U - 2.33 |log c| sqrt(V + N |d|)  must reach  log_threshold - log weight.
  /// For a score, the draw has distribution p exp(t score), normalised. To first order in t, with mu and V the sums
  /// of mean and variance over records,
  ///   log e = theta (mu + t V) - sum log U - 2.33 |theta| sqrt(V)
  /// and the total variation is t sum E|score - mean| / 2N.
  std::vector<SmallestFound> smallest(double log_threshold, double weight) const;

 private:
  struct Part {
    std::vector<double> log_bound, bound;    // by bet: sum of log U; product of the U not yet added to it
    std::vector<std::uint64_t> before;       // by cut: draws before it
    std::vector<double> gained;              // by tilt and strength of learning: sum of log f
    std::vector<double> expected, variance;  // by cut: sums of m and m (1 - m) for the masses m before it
    std::uint64_t draws = 0;
    int pending = 0;
  };

  std::size_t steps() const { return design_.cuts.size() * odds().size(); }
  static std::span<const double> odds();
  void learn(std::span<const double> mass, std::size_t drawn);
  void flush(Part& part) const;
  std::vector<double> logs(const Part& part) const;

  GroupDesign design_;
  std::vector<double> bets_, log_tilt_;  // [groups, functions]: f of tilts and learned odds; [groups, tilts]
  std::size_t tilts_ = 0, functions_ = 0;
  std::vector<double> counts_, means_;  // by group, for learning
  std::vector<double> weights_;
  std::vector<Part> parts_;
  std::uint64_t draws_ = 0;
  std::vector<std::array<std::vector<std::uint64_t>, 2>> first_;  // by cut and side
  struct Moments {
    double mean = 0, variance = 0, spread = 0;
  };
  std::vector<Moments> moments_;  // by score: sums of mean, variance, E|score - mean|
};

}  // namespace draftproof
