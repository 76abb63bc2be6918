// The optimum for one draft of each of K proposals: bounds that meet in most cases.
#pragma once

#include <draftproof/optimum/independent_bounds.hpp>
#include <draftproof/optimum/law_optimum.hpp>
#include <draftproof/sim/drafters/independent.hpp>

namespace draftproof::optima {

struct Independent {
  using Drafter = drafters::Independent;

  static std::optional<OptimumBounds> find(const RatioTable& table, int drafts) {
    return independent_bounds(table, drafts);
  }
};

}  // namespace draftproof::optima
