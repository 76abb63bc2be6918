// Mutant: from the second position on the penalty counts the last committed token twice.
//
// sim/components/target_steps.hpp has steps, symbols and cost.
// Source: vllm-project/vllm#33251, found in review.
// Hidden: at the first position, without a penalty, and without committed tokens.
#pragma once

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/target_steps.hpp>

namespace draftproof::mutants::components::target {

struct PenaltyCountsLastTokenTwice : TargetSteps {
  static constexpr ComponentInfo info{
      .name = "penalty_counts_last_token_twice",
      .summary = "from the second draft position on the last committed token counts twice",
      .source = "vllm-project/vllm#33251"};

  int count(const TargetRequest& request, const Token* drafts, int i, Token x) const {
    const bool again = i > 0 && !request.committed.empty() && request.committed.back() == x;
    return TargetSteps::count(request, drafts, i, x) + (again ? 1 : 0);
  }

  template <class Scalar>
  std::vector<Scalar> row(const TargetRequest& request, const Token* drafts, int i) const {
    return target_row<Scalar>(*this, request, drafts, i);
  }
};

}  // namespace draftproof::mutants::components::target
