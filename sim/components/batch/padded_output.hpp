// token_chain with every draft written into the padded output first. Rejected drafts stay there after the extra token
// and are trimmed by count. Correct, although the padded output looks like leaked drafts.
//
// Steps, symbols and cost: sim/components/chain_steps.hpp.
// Correctness: tokens after the extra one are never read.
// Source: lucidrains/speculative-decoding#3.
#pragma once

#include <draftproof/sim/components/chain_steps.hpp>
#include <draftproof/sim/components/component_info.hpp>

namespace draftproof::components::batch {

struct PaddedOutput : ChainSteps {
  static constexpr ComponentInfo info{.name = "padded_output",
                                      .summary = "refused drafts stay in the padded output and are trimmed later",
                                      .source = "lucidrains/speculative-decoding#3"};

  void write(const RaggedBatch& batch, const std::vector<ChainResult>& results, std::vector<Token>& tokens) const {
    const auto drafted = static_cast<std::size_t>(batch.longest);
    for (std::size_t s = 0; s < results.size(); ++s) {
      for (std::size_t i = 0; i < drafted; ++i) tokens[s * (drafted + 1) + i] = batch.drafts[s * drafted + i];
      tokens[s * (drafted + 1) + static_cast<std::size_t>(results[s].accepted)] = results[s].extra;
    }
  }
};

}  // namespace draftproof::components::batch
