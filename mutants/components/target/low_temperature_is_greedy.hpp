// Mutant: takes a temperature of at most one half for temperature 0: the most probable token has all mass. Engines do
// this below 1e-5, where no row shows it; the exponent of a small model stands for that.
//
// Hidden: at temperature 0 itself and from 1 on.
//
// sim/components/target_steps.hpp has steps, symbols and cost.
#pragma once

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/target_steps.hpp>

namespace draftproof::mutants::components::target {

struct LowTemperatureIsGreedy : TargetSteps {
  static constexpr ComponentInfo info{.name = "low_temperature_is_greedy",
                                      .summary = "temperatures of at most one half are taken for 0",
                                      .source = "derived here"};

  int coldness(const TargetRequest& request) const {
    return request.coldness >= 2 * request.grain ? 0 : request.coldness;
  }

  template <class Scalar>
  std::vector<Scalar> row(const TargetRequest& request, const Token* drafts, int i) const {
    return target_row<Scalar>(*this, request, drafts, i);
  }
};

}  // namespace draftproof::mutants::components::target
