// Mutant: leaves out the temperature where it is within a quarter of 1, after engines that compare it with 1 by a
// tolerance.
//
// Hidden: at temperature 1 itself and far from it.
//
// sim/components/target_steps.hpp has steps, symbols and cost.
#pragma once

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/target_steps.hpp>

namespace draftproof::mutants::components::target {

struct TemperatureNearOneSkipped : TargetSteps {
  static constexpr ComponentInfo info{.name = "temperature_near_one_skipped",
                                      .summary = "temperatures within a quarter of 1 are taken for 1",
                                      .source = "derived here"};

  int coldness(const TargetRequest& request) const {
    const int beyond = request.coldness - request.grain;
    return request.coldness > 0 && 4 * beyond <= request.grain && -4 * beyond <= request.grain ? request.grain
                                                                                               : request.coldness;
  }

  template <class Scalar>
  std::vector<Scalar> row(const TargetRequest& request, const Token* drafts, int i) const {
    return target_row<Scalar>(*this, request, drafts, i);
  }
};

}  // namespace draftproof::mutants::components::target
