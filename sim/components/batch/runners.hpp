// Correct batch runners: a plain runner, and two that resemble known bugs in how they find rows or write tokens. Checks
// must pass all three.
#pragma once

#include <draftproof/sim/components/chain_steps.hpp>
#include <draftproof/sim/components/component_info.hpp>

namespace draftproof::components::batch {

// Verifies as token_chain does, but computes row offsets for four slots at a time and stores them. The list outlives
// the call. This is correct, because slot 0 of every call begins a new list.
//
//   begin_    first target row of each slot
//
// Steps, symbols and cost are described in sim/components/chain_steps.hpp.
// Correctness: slots are verified in their order, so a call verifies slot 0 first.
// Source: prefix sums of ragged batches in engines.
struct OffsetsByChunk : ChainSteps {
  static constexpr ComponentInfo info{
      .name = "offsets_by_chunk",
      .summary = "row offsets are computed for four slots at a time and reused within the call",
      .source = "prefix sums of ragged batches in engines",
      .chunk = 4};

  std::int64_t target_row(const RaggedBatch& batch, int slot) const {
    const auto s = static_cast<std::size_t>(slot);
    if (slot == 0) begin_.assign(1, 0);
    while (begin_.size() <= s)
      for (int n = 0; n < info.chunk; ++n) {
        const auto last = begin_.size() - 1;
        begin_.push_back(begin_.back() + (static_cast<int>(last) < batch.slots ? batch.length[last] + 1 : 0));
      }
    return begin_[s];
  }
  std::int64_t mask_row(const RaggedBatch& batch, int slot, const std::vector<ChainResult>&) const {
    return target_row(batch, slot);
  }

 private:
  mutable std::vector<std::int64_t> begin_;
};

// Verifies as token_chain does, but first writes every draft into the padded output, where rejected drafts stay after
// the extra token. This is correct, because the number of emitted tokens excludes them.
//
// Steps, symbols and cost are described in sim/components/chain_steps.hpp.
// Correctness: tokens after the extra token are never read.
// Source: lucidrains/speculative-decoding#3.
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

// A batch of requests, each verified token by token along its chain of drafts, as in an engine's rejection sampler.
//
// Steps, symbols and cost are described in sim/components/chain_steps.hpp.
// Correctness: the result of a request is a function of its rows, drafts, seed and position only.
// Source: Leviathan et al. 2023, arXiv:2211.17192.
struct TokenChain : ChainSteps {
  static constexpr ComponentInfo info{.name = "token_chain",
                                      .summary = "ragged batch of chains, verified token by token",
                                      .source = "Leviathan et al. 2023, arXiv:2211.17192"};
};

}  // namespace draftproof::components::batch
