// Mutant: computes rows of p at temperature 1 for every request.
//
// sim/components/target_steps.hpp has steps, symbols and cost.
// Source: vllm-project/vllm#9834.
// Hidden: at temperature 1 and on rows whose weights are all equal.
#pragma once

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/target_steps.hpp>

namespace draftproof::mutants::components::target {

struct TargetAtDefaultTemperature : TargetSteps {
  static constexpr ComponentInfo info{.name = "target_at_default_temperature",
                                      .summary = "p at temperature 1 whatever was asked for",
                                      .source = "vllm-project/vllm#9834"};

  int coldness(const TargetRequest& request) const { return request.grain; }

  template <class Scalar>
  std::vector<Scalar> row(const TargetRequest& request, const Token* drafts, int i) const {
    return target_row<Scalar>(*this, request, drafts, i);
  }
};

}  // namespace draftproof::mutants::components::target
