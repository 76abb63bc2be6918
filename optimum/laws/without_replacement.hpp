// The optimum for drafts without replacement that end early if q runs out, by exponential clocks.
#pragma once

#include <draftproof/optimum/certain_acceptance.hpp>
#include <draftproof/optimum/exponential_clocks.hpp>
#include <draftproof/optimum/law_optimum.hpp>
#include <draftproof/sim/drafters/without_replacement.hpp>

namespace draftproof::optima {

struct WithoutReplacement {
  using Drafter = drafters::WithoutReplacement;

  static std::optional<OptimumBounds> find(const RatioTable& table, int drafts) {
    const double value = without_replacement_optimum(table, drafts).acceptance;
    return OptimumBounds{value, value};
  }
  static std::optional<bool> certain(const RatioTable& table, int drafts) {
    return always_accepts_without_replacement(table, drafts);
  }
};

}  // namespace draftproof::optima
