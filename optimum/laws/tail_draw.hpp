// The optimum for the tail draw, as a set of tokens. The K - 1 most probable tokens are always drafted. If y is one
// of them, the fill takes the K-th most probable instead. The free token is thus y, with the mass of the fixed tokens
// moved to the K-th.
#pragma once

#include <draftproof/optimum/law_optimum.hpp>
#include <draftproof/optimum/one_free_draft.hpp>
#include <draftproof/sim/drafters/tail_draw.hpp>

namespace draftproof::optima {

struct TailDraw {
  using Drafter = drafters::TailDraw;

  static std::optional<OptimumBounds> find(const RatioTable& table, int drafts) {
    std::vector<Token> fixed;
    for (int rank = 0; rank < drafts - 1; ++rank) fixed.push_back(table.kth_most_probable(rank));
    auto free = proposal_outside(table, fixed.data(), 1);
    for (std::size_t rank = 1; rank < fixed.size(); ++rank)
      free[static_cast<std::size_t>(table.kth_most_probable(drafts - 1))] +=
          free[static_cast<std::size_t>(fixed[rank])];
    const double value = one_free_draft_optimum(table, fixed, free);
    return OptimumBounds{value, value};
  }
};

}  // namespace draftproof::optima
