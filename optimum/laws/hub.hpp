// The optimum for SpecHub's drafts: the hub is fixed. The other draft is q outside the hub, whether it was drawn
// first or second: q(x) + q(hub) q(x) / (1 - q(hub)) = q(x) / (1 - q(hub)).
#pragma once

#include <draftproof/optimum/law_optimum.hpp>
#include <draftproof/optimum/one_free_draft.hpp>
#include <draftproof/sim/drafters/hub.hpp>

namespace draftproof::optima {

struct Hub {
  using Drafter = drafters::Hub;

  static std::optional<OptimumBounds> find(const RatioTable& table, int) {
    const Token hub = table.kth_most_probable(0);
    const double value = one_free_draft_optimum(table, {&hub, 1}, proposal_outside(table, &hub, 1));
    return OptimumBounds{value, value};
  }
};

}  // namespace draftproof::optima
