// Mutant: applies bias, min-p and top-k to the bonus row only, not to the rows that drafts are tested against.
//
// sim/components/target_steps.hpp has steps, symbols and cost.
// Source: vllm-project/vllm#42744.
// Hidden: without drafts and without filters.
#pragma once

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/target_steps.hpp>

namespace draftproof::mutants::components::target {

struct FilterReachesBonusOnly : TargetSteps {
  static constexpr ComponentInfo info{.name = "filter_reaches_bonus_only",
                                      .summary = "bias, min-p and top-k are applied to the bonus row alone",
                                      .source = "vllm-project/vllm#42744"};

  bool filtered(const TargetRequest& request, int i) const { return i == request.drafts(); }

  template <class Scalar>
  std::vector<Scalar> row(const TargetRequest& request, const Token* drafts, int i) const {
    return target_row<Scalar>(*this, request, drafts, i);
  }
};

}  // namespace draftproof::mutants::components::target
