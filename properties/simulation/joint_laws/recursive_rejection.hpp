// Recursive rejection: draft k is reached with the residual (p - b q)+ of mass F(b) and emits x with probability
// min((p - b q)+, F(b) q); then b grows by F(b).
#pragma once

#include <algorithm>

#include <draftproof/properties/simulation/joint_law.hpp>
#include <draftproof/verifiers/recursive_rejection.hpp>

namespace draftproof::joint_laws {

struct RecursiveRejection {
  using Verifier = verifiers::RecursiveRejection;
  static constexpr DraftLaws drafts{"iid"};

  /// Computed as a minimum: the difference of two residuals would cancel. A cell is 0 only if it is exactly 0.
  static JointRows rows(const RatioTable& table, int count) {
    JointRows rows(static_cast<std::size_t>(count) + 1);
    double b = 0;
    for (int k = 0; k <= count; ++k) {
      const double mass = k == 0 ? 1 : table.residual_mass(b);
      auto& row = rows[static_cast<std::size_t>(k)];
      for (Token x = 0; x < table.vocabulary(); ++x) {
        const double left = std::max(table.target(x) - b * table.proposal(x), 0.0);
        row.push_back(k < count ? std::min(left, mass * table.proposal(x)) : left);
      }
      b += mass;
    }
    return rows;
  }
};

}  // namespace draftproof::joint_laws
