// The banks (groups of bets) that an audit of a recording uses: cuts and scores (group_bets.hpp) along p / q, p, q, the
// most likely token and the token id; and one-sided bets on accepted drafts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <draftproof/properties/statistics/group_bets.hpp>
#include <draftproof/properties/statistics/moved_mass_bets.hpp>
#include <draftproof/properties/statistics/row_groups.hpp>

namespace draftproof {

/// Returns bets along p / q: 16 cuts, with log(p / q) and its absolute value as scores. `name` is the bank's name.
GroupDesign ratio_design(std::string name);
/// Returns bets along the probability of a token in the row `letter` (p or q): 12 cuts, and -log p as the score,
/// along which a wrong temperature deviates.
GroupDesign depth_design(std::string name, const std::string& letter);
/// Returns bets on the most likely token against all others.
GroupDesign top_design(std::string name);
/// Returns bets for rejection sampling on a chain. The groups are those of rejected tokens along p / q, then those of
/// accepted tokens along p / q (2 x 68 groups).
GroupDesign verdict_design(std::string name);
/// Returns bets on four groups: rejected and most likely, rejected and another token, accepted and most likely,
/// accepted and another token.
GroupDesign top_verdict_design(std::string name);

// The distribution of (rejected or accepted, token) of rejection sampling with one draft:
//   Pr(rejected, x) = max(p(x) - q(x), 0),  Pr(accepted, x) = min(p(x), q(x))
//
// Correctness: a group's true p and its true q each differ from the stored sum by at most
// (slack + mass (total slack)) / (1 - total slack) (row_groups.hpp). The minimum and the positive part differ by at
// most the sum of both bounds. No group along p / q has tokens on both sides of p = q, so the probabilities of a group
// follow from its sums.

/// Returns mass and slack of each group of verdict_design().
GroupMasses<2 * ratio_groups> verdict_masses(const RowGroups& rows);
/// Returns mass and slack of each group of top_verdict_design().
GroupMasses<4> top_verdict_masses(const RowGroups& rows);

// A share s of the mass of p moves to its most likely tokens T, or away from them if s < 0, and the other
// tokens change in proportion: p'(T) = p(T) + s, where |s| is at most half of the mass that can move. The distribution
// of (draft, verdict, token) of rejection sampling by p' follows from sums over T and over the tokens with p < q. It is
// exact to first order in s if T is one token; a bet has mean at most 1 in any case (moved_mass_bets.hpp).

/// Returns bets on two cells: the most likely token and all other tokens.
MovedMassBets moved_tokens(std::string name);
void add_moved_token(MovedMassBets& bets, const RowGroups& rows, bool top, std::uint64_t record);

/// Cells for rejected drafts, accepted drafts and tokens without a draft, each split into the most likely token and all
/// others.
enum class MovedVerdict : std::uint8_t {
  rejected_for_top,  ///< another token was drafted and rejected, and the most likely token was emitted
  /// the most likely token was drafted and rejected; counted as `rejected` if the draft sampling is unknown
  rejected_top,
  rejected,
  accepted_top,
  accepted,
  alone_top,  ///< a token without a draft
  alone
};
MovedMassBets moved_verdicts(std::string name);
/// `drafts_have_distribution` declares that a draft has distribution q. Only then the cell depends on which token was
/// rejected.
void add_moved_verdict(MovedMassBets& bets, const RowGroups& rows, MovedVerdict verdict,
                       bool drafts_have_distribution, std::uint64_t record);

/// Returns bets along the token id, from 0 to `symbols` - 1.
GroupDesign id_design(std::string name, std::size_t symbols);

// Bets that the first token of a block is an accepted draft too often. A lossless verifier emits x with probability
// p(x), and can accept x only if it was drafted: Pr(accepted, x) <= min(p(x), K q(x)) with K drafts from q at
// the root.
//
//   m     sum over groups on one side of a cut along p / q of min(p_g + slack, K (q_g + slack))
//   bet   c if an accepted draft is on that side, else 1;  c = 1.02 .. 256
//   U     1 + (c - 1) m
//
// Correctness: E bet = 1 + (c - 1) Pr(accepted on that side) <= U. Since m is only an upper bound, fewer accepted
// drafts than m are no evidence.
//
// Cost: half a microsecond per block.
class AcceptedBets {
 public:
  AcceptedBets();

  /// Adds one block. `drafts`: number K of root drafts. `group`: group along p / q of the first token; -1 if it
  /// is not an accepted draft.
  void add(const RowGroups& rows, int drafts, int group, std::uint64_t record);

  std::uint64_t draws() const { return draws_; }
  double log_e() const;
  /// Returns the side whose accepted drafts exceed the sum of m by the most standard deviations.
  GroupExcess worst() const;

 private:
  struct Side {
    CellCount count;                             // accepted drafts on this side, each with probability at most m
    int from = 0, to = 0;                        // the groups from .. to - 1
    std::vector<double> log_bound{}, product{};  // by c: sum of log U, and the product of the U not yet added to it
  };
  std::vector<Side> sides_;
  std::uint64_t draws_ = 0;
};

}  // namespace draftproof
