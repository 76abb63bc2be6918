// Mutant: cuts the accepted path one position too late at a stop token or a length limit, so that one token more is
// emitted.
//
// sim/components/chain_steps.hpp has steps, symbols and cost.
// Source: PaddlePaddle/FastDeploy#7121.
// Hidden: where a step ends with its stop token anyway.
#pragma once

#include <draftproof/sim/components/chain_steps.hpp>
#include <draftproof/sim/components/component_info.hpp>

namespace draftproof::mutants::components::batch {

struct PathCutLate : ChainSteps {
  static constexpr ComponentInfo info{.name = "path_cut_late",
                                      .summary = "one token after the stop token or the limit is kept",
                                      .source = "PaddlePaddle/FastDeploy#7121"};

  int kept(const BatchRequest& request, const Token* tokens, int count) const {
    return std::min(ChainSteps::kept(request, tokens, count) + 1, count);
  }
};

}  // namespace draftproof::mutants::components::batch
