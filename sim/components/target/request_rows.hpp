// Rows of p at the draft positions and the bonus position, from the model's weights and the settings of one request.
//
// Steps, symbols and cost: sim/components/target_steps.hpp. At temperature 0 a row has one token: ratios are 0 or 1
// and no decision depends on a random word, as it should be.
#pragma once

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/target_steps.hpp>

namespace draftproof::components::target {

struct RequestRows : TargetSteps {
  static constexpr ComponentInfo info{.name = "request_rows",
                                      .summary = "rows of p from weights and the settings of a request",
                                      .source = "the order of settings of common engines"};

  template <class Scalar>
  std::vector<Scalar> row(const TargetRequest& request, const Token* drafts, int i) const {
    return target_row<Scalar>(*this, request, drafts, i);
  }
};

}  // namespace draftproof::components::target
