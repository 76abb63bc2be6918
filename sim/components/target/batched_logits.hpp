// Rows of p from logits whose last bits differ from those of a decode of one token, as in a pass over several
// positions. This is no defect of a verifier: laws are compared given the logits that were used.
//
// Steps, symbols and cost: sim/components/target_steps.hpp.
// Source: vllm-project/vllm#54506, ml-explore/mlx-lm#1423.
#pragma once

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/target_steps.hpp>

namespace draftproof::components::target {

struct BatchedLogits : TargetSteps {
  static constexpr ComponentInfo info{
      .name = "batched_logits",
      .summary = "the verify pass computes other last bits than a decode of one token",
      .source = "vllm-project/vllm#54506"};

  /// In units of 2^-12; the last bit is set where the sum has another order.
  int weight(const TargetRequest& request, int i, Token x) const {
    const int exact = TargetSteps::weight(request, i, x) * 4096;
    return exact > 0 && (i + x) % 2 == 0 ? exact + 1 : exact;
  }

  template <class Scalar>
  std::vector<Scalar> row(const TargetRequest& request, const Token* drafts, int i) const {
    return target_row<Scalar>(*this, request, drafts, i);
  }
};

}  // namespace draftproof::components::target
