// The banks of bets that an audit of a recording uses: cuts and scores along p / q, p, q, the most likely token and
// the token number; and one-sided bets on accepted drafts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <draftproof/properties/statistics/group_bets.hpp>
#include <draftproof/properties/statistics/moved_mass_bets.hpp>
#include <draftproof/properties/statistics/row_groups.hpp>

namespace draftproof {

/// Along p / q: 16 cuts, log(p / q) and its absolute value as scores. `name` names the bank.
GroupDesign ratio_design(std::string name);
/// Along the probability of a token under the row `letter` (p or q): 12 cuts, and -log p as score, which a wrong
/// temperature follows.
GroupDesign depth_design(std::string name, const std::string& letter);
/// The most likely token against all others.
GroupDesign top_design(std::string name);
/// Rejected before accepted tokens, each along p / q (2 x 68 groups); for rejection sampling on a chain of drafts.
GroupDesign verdict_design(std::string name);
/// Rejected and accepted tokens, the most likely token before the others (2 x 2 groups).
GroupDesign top_verdict_design(std::string name);

// The law of (rejected or accepted, token) of rejection sampling with one draft:
//   Pr(rejected, x) = max(p(x) - q(x), 0),  Pr(accepted, x) = min(p(x), q(x))
// Correctness: true p and q of a group are off by at most slack + mass (total slack), relative to 1 - total slack
// (row_groups.hpp); minimum and positive part move by no more than both together. Groups along p / q do not cross
// p = q, so the law of a group follows from its sums.

/// Groups of verdict_design.
GroupMasses<2 * ratio_groups> verdict_masses(const RowGroups& rows);
/// Groups of top_verdict_design.
GroupMasses<4> top_verdict_masses(const RowGroups& rows);

// A share s of the mass of p moves to its most likely tokens T, away from them where s < 0, from or to all others
// alike: p'(T) = p(T) + s, at most half of what there is. The law of (draft, verdict, token) of rejection sampling by
// p' follows from sums over T and over the tokens with p < q. For T of one token it is exact to first order in s; a
// bet is fair whatever it is (moved_mass_bets.hpp).

/// The most likely token, another.
MovedMassBets moved_tokens(std::string name);
void add_moved_token(MovedMassBets& bets, const RowGroups& rows, bool top, std::uint64_t record);

/// Where a draft was refused, where one was accepted, and where there was none: is it the most likely token?
enum class MovedVerdict : std::uint8_t {
  rejected_for_top,  ///< another token was drafted, the most likely one emitted
  rejected_top,      ///< the most likely token was drafted and refused; counts as the next where drafts have no law
  rejected,
  accepted_top,
  accepted,
  alone_top,  ///< a token without a draft
  alone
};
MovedMassBets moved_verdicts(std::string name);
/// `drafts_have_law`: a draft has law q, so that a refused one is seen.
void add_moved_verdict(MovedMassBets& bets, const RowGroups& rows, MovedVerdict verdict, bool drafts_have_law,
                       std::uint64_t record);

/// Along the token number, from 0 to `symbols` - 1.
GroupDesign id_design(std::string name, std::size_t symbols);

// The first token of a block, and whether it is an accepted draft. A lossless verifier emits x with probability p(x),
// and can accept a draft x only if there is one:  Pr(accepted, x) <= min(p(x), K q(x))  with K drafts of q at the
// root.
//
//   m     sum over groups on one side of a cut along p / q of min(p_g + slack, K (q_g + slack))
//   bet   c if an accepted draft lies on that side, else 1;  c = 1.02 .. 256
//   U     1 + (c - 1) m
//
// Correctness: E bet = 1 + (c - 1) Pr(accepted on that side) <= U. Acceptance below m is no evidence.
//
// Cost: half a microsecond a block.
class AcceptedBets {
 public:
  AcceptedBets();

  /// One block. `drafts`: number K of root drafts. `group`: along p / q, of the first token; -1 if it is no accepted
  /// draft.
  void add(const RowGroups& rows, int drafts, int group, std::uint64_t record);

  std::uint64_t draws() const { return draws_; }
  double log_e() const;
  /// The side with the most excess over m; no evidence below m.
  GroupExcess worst() const;

 private:
  struct Side {
    CellCount count;                             // of m
    int from = 0, to = 0;                        // groups
    std::vector<double> log_bound{}, product{};  // by c: sum of log U, and the product of those not yet in it
  };
  std::vector<Side> sides_;
  std::uint64_t draws_ = 0;
};

}  // namespace draftproof
