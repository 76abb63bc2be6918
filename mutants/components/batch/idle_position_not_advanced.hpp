// Mutant: counts the position of a request's words itself and forgets the token of a call without drafts. The next
// call reads that token's word again.
//
//   next_      position of the next word by request
//
// sim/components/chain_steps.hpp has steps, symbols and cost.
// Source: derived here, after offsets of generators that advance in the speculative path alone.
// Error: two tokens of one request are drawn with one word.
// Hidden: in a single call, and while every call has drafts. Alone, with the same history, the request gives the
// same.
#pragma once

#include <map>

#include <draftproof/sim/components/chain_steps.hpp>
#include <draftproof/sim/components/component_info.hpp>

namespace draftproof::mutants::components::batch {

struct IdlePositionNotAdvanced : ChainSteps {
  static constexpr ComponentInfo info{
      .name = "idle_position_not_advanced",
      .summary = "after a call without drafts a request's words begin where that call's did",
      .source = "derived here"};

  StreamAddress address(const RaggedBatch& batch, int slot, int i) const {
    StreamAddress own = ChainSteps::address(batch, slot, i);
    const auto known = next_.try_emplace(batch.request[slot].id, batch.request[slot].position).first;
    own.position = known->second + static_cast<std::uint32_t>(i);
    return own;
  }
  void write(const RaggedBatch& batch, const std::vector<ChainResult>& results, std::vector<Token>& tokens) const {
    for (int s = 0; s < batch.slots; ++s)
      if (batch.length[s] > 0)
        next_[batch.request[s].id] += static_cast<std::uint32_t>(results[static_cast<std::size_t>(s)].accepted) + 1;
    ChainSteps::write(batch, results, tokens);
  }

 private:
  mutable std::map<std::uint32_t, std::uint32_t> next_;
};

}  // namespace draftproof::mutants::components::batch
