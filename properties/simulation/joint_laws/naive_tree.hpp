// Naive tree: min(p, q) for the first draft. Draft k > 1 is the first to equal the residual draw x with probability
// (1 - q)^(k - 2) q, for any outcome of the first draft.
#pragma once

#include <algorithm>

#include <draftproof/properties/simulation/joint_law.hpp>
#include <draftproof/verifiers/naive_tree.hpp>

namespace draftproof::joint_laws {

struct NaiveTree {
  using Verifier = verifiers::NaiveTree;
  static constexpr DraftLaws drafts{"iid"};

  /// A residual draw cannot equal the rejected first draft, whose residual is 0.
  static JointRows rows(const RatioTable& table, int count) {
    JointRows rows(static_cast<std::size_t>(count) + 1);
    for (Token x = 0; x < table.vocabulary(); ++x) {
      const double p = table.target(x), q = table.proposal(x);
      rows[0].push_back(std::min(p, q));
      double left = std::max(p - q, 0.0);
      for (std::size_t k = 1; k < static_cast<std::size_t>(count); ++k) {
        rows[k].push_back(left * q);
        left *= 1 - q;
      }
      rows.back().push_back(left);
    }
    return rows;
  }
};

}  // namespace draftproof::joint_laws
