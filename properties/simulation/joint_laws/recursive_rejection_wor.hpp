// Recursive rejection without replacement. The first draft is tested as a single draft. The second is drawn from q
// without the first and tested against the residual of p and q, for any rejected token.
//
//   w(x)     q - p, if positive           x was drafted first and rejected
//   p'(y)    (p - q)+ / sum of w          target after the rejection; 0 at every x that can have been rejected
//   row 1    min(p, q)
//   row 2    sum over x of w(x) min(q(y) / (1 - q(x)), p'(y))
//   row 3    sum over x of w(x) (p'(y) - q(y) / (1 - q(x)))+      a later draft, or none
//
// If one token is all of q, nothing follows it, and rows 2 and 3 are one.
//
// Cost: one sort by q and prefix sums, O(V log V), because a term of either sum is linear on each side of
// q(x) = 1 - q(y) / p'(y).
//
// Error: the difference in row 3 is off by some 1e-16 p'(y) at most. A cell that is wrongly 0 here would be hit less
// than once in 10^15 trials.
#pragma once

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include <draftproof/properties/simulation/joint_law.hpp>
#include <draftproof/properties/simulation/joint_laws/single_draft.hpp>
#include <draftproof/verifiers/recursive_rejection_wor.hpp>

namespace draftproof::joint_laws {

struct RecursiveRejectionWor {
  using Verifier = verifiers::RecursiveRejectionWor;
  static constexpr DraftLaws drafts{"without_replacement", "without_replacement_uniform"};

  static JointRows rows(const RatioTable& table, int count) {
    JointRows rows = SingleDraft::rows(table, 1);
    if (count > 1 && table.proposal(table.kth_most_probable(0)) < 1) split(table, rows);
    return rows;
  }

 private:
  /// Sums over rejected tokens x, in ascending order of q: of w, and of w / (1 - q).
  struct Refused {
    double most, weight, widened;  ///< `most`: q of the last token in the sum
  };

  static std::vector<Refused> refused_first(const RatioTable& table) {
    std::vector<Token> order(static_cast<std::size_t>(table.vocabulary()));
    std::iota(order.begin(), order.end(), Token{0});
    std::sort(order.begin(), order.end(), [&](Token a, Token b) { return table.proposal(a) < table.proposal(b); });
    std::vector<Refused> sums{{-std::numeric_limits<double>::infinity(), 0, 0}};
    for (const Token x : order)
      if (const double q = table.proposal(x), weight = q - table.target(x); weight > 0)
        sums.push_back({q, sums.back().weight + weight, sums.back().widened + weight / (1 - q)});
    return sums;
  }

  static void split(const RatioTable& table, JointRows& rows) {
    const std::vector<Refused> sums = refused_first(table);
    const Refused& all = sums.back();
    std::vector<double> second(rows[0].size()), later(rows[0].size());
    for (std::size_t y = 0; y < second.size(); ++y) {
      if (rows[1][y] == 0) continue;
      const double q = table.proposal(static_cast<Token>(y)), wanted = rows[1][y] / all.weight;
      // For rejected tokens with q(x) below this, the residual exceeds the mass that the second draft can emit.
      const double bound = 1 - q / wanted;
      const Refused& scarce =
          *(std::partition_point(sums.begin(), sums.end(), [bound](const Refused& sum) { return sum.most < bound; }) -
            1);
      second[y] = q * scarce.widened + wanted * (all.weight - scarce.weight);
      // Every term of the exact sum is positive, so the sum is 0 only if it has no term, despite rounding.
      const double whole = wanted * scarce.weight;
      later[y] = whole > 0 ? std::max(whole - q * scarce.widened, 0x1p-52 * whole) : 0;
    }
    rows[1] = std::move(second);
    rows.push_back(std::move(later));
  }
};

}  // namespace draftproof::joint_laws
