// Mutant: applies every filter to the whole row where each was asked for on what the one before it left, as a fused
// kernel of top-k and top-p does.
//
// Hidden: where one filter is on, or where the filters that follow see no mass removed.
//
// sim/components/target_steps.hpp has steps, symbols and cost.
#pragma once

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/target_steps.hpp>

namespace draftproof::mutants::components::target {

struct ChainFilteredJointly : TargetSteps {
  static constexpr ComponentInfo info{.name = "chain_filtered_jointly",
                                      .summary = "filters of a chain all see the whole row",
                                      .source = "derived here"};

  bool joint(const TargetRequest&) const { return true; }

  template <class Scalar>
  std::vector<Scalar> row(const TargetRequest& request, const Token* drafts, int i) const {
    return target_row<Scalar>(*this, request, drafts, i);
  }
};

}  // namespace draftproof::mutants::components::target
