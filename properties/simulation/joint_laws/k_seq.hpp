// K-SEQ with factor rho: draft k is reached with probability (1 - beta)^(k - 1), and accepted as x with probability
// min(q, p / rho) times that; beta is the sum of min(q, p / rho). The last row is p - c min(q, p / rho), where c is
// the sum of the probabilities to reach drafts 1 .. K.
#pragma once

#include <algorithm>

#include <draftproof/properties/simulation/joint_law.hpp>
#include <draftproof/verifiers/k_seq.hpp>

namespace draftproof::joint_laws {

struct KSeq {
  using Verifier = verifiers::KSeq;
  static constexpr DraftLaws drafts{"iid"};

  static JointRows rows(const RatioTable& table, int count) {
    const auto plan = verifiers::KSeq{}.prepare(table, count);
    const double beta = (1 - table.residual_mass(plan.factor)) / plan.factor;
    JointRows rows(static_cast<std::size_t>(count) + 1);
    for (Token x = 0; x < table.vocabulary(); ++x) {
      const double p = table.target(x), share = std::min(table.proposal(x), p / plan.factor);
      double reached = 1;
      for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) {
        rows[k].push_back(reached * share);
        reached *= 1 - beta;
      }
      rows.back().push_back(std::max(p - plan.served * share, 0.0));
    }
    return rows;
  }
};

}  // namespace draftproof::joint_laws
