// Mutant: cuts the accepted path one position too early. Where a stop token or a limit cuts, the last kept token is
// lost.
//
// sim/components/chain_steps.hpp has steps, symbols and cost.
// Source: PaddlePaddle/FastDeploy#7121.
// Hidden: where nothing is cut.
#pragma once

#include <draftproof/sim/components/chain_steps.hpp>
#include <draftproof/sim/components/component_info.hpp>

namespace draftproof::mutants::components::batch {

struct PathCutEarly : ChainSteps {
  static constexpr ComponentInfo info{.name = "path_cut_early",
                                      .summary = "the stop token, or the last token within the limit, is lost",
                                      .source = "PaddlePaddle/FastDeploy#7121"};

  int kept(const BatchRequest& request, const Token* tokens, int count) const {
    const int kept = ChainSteps::kept(request, tokens, count);
    return kept < count ? kept - 1 : kept;
  }
};

}  // namespace draftproof::mutants::components::batch
