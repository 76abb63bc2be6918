// Mutant: consumes one coin more than it declares before the last token of a step. Every law is right.
//
// sim/components/chain_steps.hpp has steps, symbols and cost.
// Source: derived here, after samplers that draw for an option that is off.
// Error: a stream that is consumed in order is out of step with a run that should repeat.
// Hidden: unless random numbers are counted.
#pragma once

#include <draftproof/sim/components/chain_steps.hpp>
#include <draftproof/sim/components/component_info.hpp>

namespace draftproof::mutants::components::batch {

struct CoinBesideLastDraw : ChainSteps {
  static constexpr ComponentInfo info{.name = "coin_beside_last_draw",
                                      .summary = "a coin that nobody asks for is drawn before the last token",
                                      .source = "derived here"};

  template <class F, class Source>
  Token extra(int vocabulary, const F& weight, ChainScratch& scratch, Source& random) const {
    random.flip(1.0, 2.0);
    return ChainSteps::extra(vocabulary, weight, scratch, random);
  }
};

}  // namespace draftproof::mutants::components::batch
