// The optimum for greedy drafts: the K - 1 most probable tokens are fixed, the last draft is free.
#pragma once

#include <draftproof/optimum/law_optimum.hpp>
#include <draftproof/optimum/one_free_draft.hpp>
#include <draftproof/sim/drafters/greedy.hpp>

namespace draftproof::optima {

struct Greedy {
  using Drafter = drafters::Greedy;

  static std::optional<OptimumBounds> find(const RatioTable& table, int drafts) {
    std::vector<Token> fixed;
    for (int rank = 0; rank < drafts - 1; ++rank) fixed.push_back(table.kth_most_probable(rank));
    const auto free = proposal_outside(table, fixed.data(), drafts - 1);
    const double value = one_free_draft_optimum(table, fixed, free);
    return OptimumBounds{value, value};
  }
};

}  // namespace draftproof::optima
