// Sample and match: draft k is the first to equal the token drawn from p with probability (1 - q)^(k - 1) q.
#pragma once

#include <algorithm>

#include <draftproof/properties/simulation/joint_law.hpp>
#include <draftproof/verifiers/sample_and_match.hpp>

namespace draftproof::joint_laws {

struct SampleAndMatch {
  using Verifier = verifiers::SampleAndMatch;
  static constexpr DraftLaws drafts{"iid"};

  static JointRows rows(const RatioTable& table, int count) {
    JointRows rows(static_cast<std::size_t>(count) + 1);
    for (Token x = 0; x < table.vocabulary(); ++x) {
      double left = table.target(x);
      for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) {
        rows[k].push_back(left * table.proposal(x));
        left *= 1 - table.proposal(x);
      }
      rows.back().push_back(left);
    }
    return rows;
  }
};

}  // namespace draftproof::joint_laws
