// Sources of target rows.
#pragma once

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/target_steps.hpp>

namespace draftproof::components::target {

// Makes rows of p from logits that differ in the last bits from the logits of decoding one token, as in an engine's
// pass over several positions. This source is correct: the expected rows are computed from the same logits.
//
// Steps, symbols and cost are described in sim/components/target_steps.hpp.
// Source: vllm-project/vllm#54506, ml-explore/mlx-lm#1423.
struct BatchedLogits : TargetRows<BatchedLogits> {
  static constexpr ComponentInfo info{.name = "batched_logits",
                                      .summary = "the verify pass rounds differently from a decode of one token",
                                      .source = "vllm-project/vllm#54506"};

  /// Returns the weight in units of 2^-12. Every second token has one unit more, as if summed in another order.
  int weight(const TargetRequest& request, int i, Token x) const {
    const int exact = TargetSteps::weight(request, i, x) * 4096;
    return exact > 0 && (i + x) % 2 == 0 ? exact + 1 : exact;
  }
};

// Makes rows of p at the draft positions and the bonus position, from the model's weights and the settings of one
// request.
//
// Steps, symbols and cost are described in sim/components/target_steps.hpp. At temperature 0 a row has one token,
// ratios are 0 or 1, and no decision depends on random bits.
struct RequestRows : TargetRows<RequestRows> {
  static constexpr ComponentInfo info{.name = "request_rows",
                                      .summary = "rows of p from the model's weights and the settings of a request",
                                      .source = "the order of settings of common engines"};
};

}  // namespace draftproof::components::target
