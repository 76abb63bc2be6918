// Mutant: applies filters to the row at temperature 1 and the temperature after them, whatever order was asked for.
//
// Hidden: at temperature 1, and with filters that a temperature does not move (top-k).
//
// sim/components/target_steps.hpp has steps, symbols and cost.
#pragma once

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/target_steps.hpp>

namespace draftproof::mutants::components::target {

struct FiltersBeforeTemperature : TargetSteps {
  static constexpr ComponentInfo info{.name = "filters_before_temperature",
                                      .summary = "filters see the row at temperature 1 in either order",
                                      .source = "derived here"};

  bool cold_last(const TargetRequest&) const { return true; }

  template <class Scalar>
  std::vector<Scalar> row(const TargetRequest& request, const Token* drafts, int i) const {
    return target_row<Scalar>(*this, request, drafts, i);
  }
};

}  // namespace draftproof::mutants::components::target
