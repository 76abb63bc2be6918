// Mutant: a slot's settings are stored when drafts are scheduled there. A request that comes to a used slot and idles
// draws with the seed, number and position of the request that had the slot before.
//
//   tenant_    settings by slot, from call to call
//
// sim/components/chain_steps.hpp has steps, symbols and cost.
// Source: derived here, after per-slot generators that are not moved with their requests.
// Error: words of another request, read twice.
// Hidden: in every first call, and while no request changes its slot.
#pragma once

#include <draftproof/sim/components/chain_steps.hpp>
#include <draftproof/sim/components/component_info.hpp>

namespace draftproof::mutants::components::batch {

struct SettingsOfLastTenant : ChainSteps {
  static constexpr ComponentInfo info{
      .name = "settings_of_last_tenant",
      .summary = "a request that idles in a used slot has the words of the last request there",
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

}  // namespace draftproof::mutants::components::batch
