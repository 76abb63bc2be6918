// Mutant: top-p keeps the tokens whose running share, themselves included, is below p. The token that reaches p is
// dropped, and with it everything where the first token reaches p alone; the first token is then kept.
//
// Hidden: without top-p.
//
// sim/components/target_steps.hpp has steps, symbols and cost.
#pragma once

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/target_steps.hpp>

namespace draftproof::mutants::components::target {

struct TopPLeavesOutTheLast : TargetSteps {
  static constexpr ComponentInfo info{.name = "top_p_leaves_out_the_last",
                                      .summary = "top-p drops the token that reaches the share",
                                      .source = "derived here"};

  template <class Scalar>
  void filter(const TargetRequest& request, TargetFilters<Scalar>& filters) const {
    TargetRequest others = request;
    others.top_p = others.typical_p = 0;
    TargetSteps::filter(others, filters);
    if (request.top_p > 0) {
      TargetFilters<Scalar> strict = filters;
      strict.top_p(request.top_p, false);
      const auto& left = strict.kept();
      if (std::find(left.begin(), left.end(), true) != left.end())
        filters = strict;
      else
        filters.top_p(1);
    }
    if (request.typical_p > 0) filters.typical_p(request.typical_p);
  }

  template <class Scalar>
  std::vector<Scalar> row(const TargetRequest& request, const Token* drafts, int i) const {
    return target_row<Scalar>(*this, request, drafts, i);
  }
};

}  // namespace draftproof::mutants::components::target
