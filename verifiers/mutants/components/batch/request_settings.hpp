// Mutants of batch runners: random numbers of another request or call. `Hidden` says where a bug does not show.
#pragma once

#include <map>

#include <draftproof/sim/components/chain_steps.hpp>
#include <draftproof/sim/components/component_info.hpp>

namespace draftproof::mutants::components::batch {

// Mutant: keeps its own count of a request's random bits and does not count the token of a call without drafts. The
// next call reads the bits of that token again.
//
//   next_      position of the next random bits, by request
//
// sim/components/chain_steps.hpp describes steps, symbols and cost.
// Source: derived here, after generators whose offsets advance in the speculative path only.
// Error: two tokens of one request are drawn with the same bits.
// Hidden: in a single call, and while every call has drafts. A comparison with the request run alone shows nothing
// either, because with the same calls the request gets the same tokens.

struct IdlePositionNotAdvanced : ChainSteps {
  static constexpr ComponentInfo info{
      .name = "idle_position_not_advanced",
      .summary = "after a call without drafts, a request uses the random bits of that call again",
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

// Mutant: every request without its own seed starts the same stream of the engine's seed. Each row has the right
// distribution, but all rows read the same random bits.
//
// sim/components/chain_steps.hpp describes steps, symbols and cost.
// Source: NVIDIA/TensorRT-LLM#19487.
// Hidden: in tests of one row. Visible: two rows with the same distributions always get the same tokens.
struct OneSeedForAllRequests : ChainSteps {
  static constexpr ComponentInfo info{.name = "one_seed_for_all_requests",
                                      .summary = "requests without a seed share one random stream",
                                      .source = "NVIDIA/TensorRT-LLM#19487"};

  StreamAddress address(const RaggedBatch& batch, int slot, int i) const {
    StreamAddress own = ChainSteps::address(batch, slot, i);
    if (!batch.request[slot].seeded) own.stream = 1;
    return own;
  }
};

// Mutant: a slot's settings are stored only when drafts are scheduled in the slot. A request without drafts in a used
// slot draws with the seed, number and position of the request that had the slot before.
//
//   tenant_    settings by slot, kept between calls
//
// sim/components/chain_steps.hpp describes steps, symbols and cost.
// Source: derived here, after per-slot generators that are not moved with their requests.
// Error: random bits of another request are read again.
// Hidden: in every first call, and while no request changes its slot.

struct SettingsOfLastTenant : ChainSteps {
  static constexpr ComponentInfo info{
      .name = "settings_of_last_tenant",
      .summary = "a request that idles in a used slot gets the random bits of the last request there",
      .source = "derived here"};

  StreamAddress address(const RaggedBatch& batch, int slot, int i) const {
    const auto s = static_cast<std::size_t>(slot);
    const bool used = s < tenant_.size();
    if (!used) tenant_.resize(s + 1);
    if (!used || batch.length[slot] > 0) tenant_[s] = batch.request[slot];
    RaggedBatch own = batch;
    own.request = &tenant_[s];
    return ChainSteps::address(own, 0, i);
  }

 private:
  mutable std::vector<BatchRequest> tenant_;
};

// Mutant: works on eight slots at a time and reads a request's seed, number and position at the slot's index within its
// group of eight, not at the slot's index. Slots from the ninth on get the values of another request.
//
// sim/components/chain_steps.hpp describes steps, symbols and cost.
// Source: derived here, after kernels that index a table of settings by the lane.
// Error: two requests read the same random bits.
// Hidden: in batches of at most eight requests.
struct SettingsOfSlotInChunk : ChainSteps {
  static constexpr ComponentInfo info{.name = "settings_of_slot_in_chunk",
                                      .summary = "from the ninth slot on, a request gets the random bits of another",
                                      .source = "derived here",
                                      .chunk = 8};

  StreamAddress address(const RaggedBatch& batch, int slot, int i) const {
    return ChainSteps::address(batch, slot % info.chunk, i);
  }
};

}  // namespace draftproof::mutants::components::batch
