// Mutant: the bonus row counts the committed text alone, and not the drafts before it.
//
// sim/components/target_steps.hpp has steps, symbols and cost.
// Source: vllm 0.33.0, min_tokens (docs/findings/engine-vllm-least-length.md).
// Hidden: without a penalty, without drafts, and at all draft positions.
#pragma once

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/target_steps.hpp>

namespace draftproof::mutants::components::target {

struct BonusForgetsDrafts : TargetSteps {
  static constexpr ComponentInfo info{.name = "bonus_forgets_drafts",
                                      .summary = "the bonus row is made from the committed text, without the drafts",
                                      .source = "vllm 0.33.0, min_tokens"};

  int count(const TargetRequest& request, const Token* drafts, int i, Token x) const {
    return TargetSteps::count(request, drafts, i == request.drafts() ? 0 : i, x);
  }

  template <class Scalar>
  std::vector<Scalar> row(const TargetRequest& request, const Token* drafts, int i) const {
    return target_row<Scalar>(*this, request, drafts, i);
  }
};

}  // namespace draftproof::mutants::components::target
