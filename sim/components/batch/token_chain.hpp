// A batch of requests, each verified token by token along its chain of drafts, as in an engine's rejection sampler.
//
// Steps, symbols and cost: sim/components/chain_steps.hpp.
// Correctness: a row's result is a function of its own rows, drafts, seed and position.
// Source: Leviathan et al. 2023, arXiv:2211.17192.
#pragma once

#include <draftproof/sim/components/chain_steps.hpp>
#include <draftproof/sim/components/component_info.hpp>

namespace draftproof::components::batch {

struct TokenChain : ChainSteps {
  static constexpr ComponentInfo info{.name = "token_chain",
                                      .summary = "ragged batch of chains, verified token by token",
                                      .source = "Leviathan et al. 2023, arXiv:2211.17192"};
};

}  // namespace draftproof::components::batch
