// Recursive rejection without replacement: the first draft is a single draft, so min(p, q) goes with it and (p - q)+
// with all the rest, however many drafts follow.
#pragma once

#include <algorithm>

#include <draftproof/properties/path_law.hpp>
#include <draftproof/verifiers/recursive_rejection_wor.hpp>

namespace draftproof::path_laws {

struct RecursiveRejectionWor {
  using Verifier = verifiers::RecursiveRejectionWor;
  static constexpr DraftLaws drafts{"without_replacement", "without_replacement_uniform"};

  static PathRows rows(const RatioTable& table, int) {
    PathRows rows(2);
    for (Token x = 0; x < table.vocabulary(); ++x) {
      const double p = table.target(x), q = table.proposal(x);
      rows[0].push_back(std::min(p, q));
      rows[1].push_back(std::max(p - q, 0.0));
    }
    return rows;
  }
};

}  // namespace draftproof::path_laws
