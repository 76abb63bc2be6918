// Single draft: min(p, q) accepted, (p - q)+ after a rejection.
#pragma once

#include <algorithm>

#include <draftproof/properties/simulation/joint_law.hpp>
#include <draftproof/verifiers/single_draft.hpp>

namespace draftproof::joint_laws {

struct SingleDraft {
  using Verifier = verifiers::SingleDraft;
  static constexpr DraftLaws drafts{"iid"};

  static JointRows rows(const RatioTable& table, int) {
    JointRows rows(2);
    for (Token x = 0; x < table.vocabulary(); ++x) {
      const double p = table.target(x), q = table.proposal(x);
      rows[0].push_back(std::min(p, q));
      rows[1].push_back(std::max(p - q, 0.0));
    }
    return rows;
  }
};

}  // namespace draftproof::joint_laws
