// Mutant: without a specialised kernel p silently becomes one-hot at its largest entry.
//
// sim/components/target_steps.hpp has steps, symbols and cost.
// Source: sgl-project/sglang#39253.
// Hidden: unless every implementation is tested.
#pragma once

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/target_steps.hpp>

namespace draftproof::mutants::components::target {

struct TargetArgmaxFallback : TargetSteps {
  static constexpr ComponentInfo info{.name = "target_argmax_fallback",
                                      .summary = "without a specialised kernel p is one-hot at its largest entry",
                                      .source = "sgl-project/sglang#39253"};

  template <class Scalar>
  std::vector<Scalar> row(const TargetRequest& request, const Token* drafts, int i) const {
    std::vector<Scalar> law = target_row<Scalar>(*this, request, drafts, i);
    if (request.backend == TargetBackend::specialised) return law;
    const auto top = std::max_element(law.begin(), law.end());
    for (auto entry = law.begin(); entry != law.end(); ++entry) *entry = Scalar(entry == top ? 1 : 0);
    return law;
  }
};

}  // namespace draftproof::mutants::components::target
