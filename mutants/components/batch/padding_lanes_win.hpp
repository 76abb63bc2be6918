// Mutant: lanes beyond V in the last tile keep ids from V on and the weights of the tile before. They can be drawn,
// and they win if no weight is positive.
//
//   T        tile         lanes of a tile
//
// sim/components/chain_steps.hpp has other symbols and cost.
// Source: flashinfer-ai/flashinfer#3624.
// Hidden: while V is a multiple of the tile.
// Smallest: V = T + 1.
#pragma once

#include <draftproof/sim/components/chain_steps.hpp>
#include <draftproof/sim/components/component_info.hpp>

namespace draftproof::mutants::components::batch {

struct PaddingLanesWin : ChainSteps {
  static constexpr ComponentInfo info{.name = "padding_lanes_win",
                                      .summary = "lanes beyond V take part with what the tile before left in them",
                                      .source = "flashinfer-ai/flashinfer#3624"};

  static constexpr int tile = 2;

  bool sound(const MaskedRow&) const { return true; }

  template <class F, class Source>
  Token extra(int vocabulary, const F& weight, ChainScratch&, Source& random) const {
    const int lanes = (vocabulary + tile - 1) / tile * tile;
    const auto lane = [=](Token x) {
      if (x < vocabulary) return weight(x);
      return x >= tile ? weight(x - tile) : 0.0;
    };
    double total = 0;
    for (Token x = 0; x < lanes; ++x) total += lane(x);
    if (!(total > 0)) return lanes - 1;
    return random.pick(ScaledWeights(lanes, lane));
  }
};

}  // namespace draftproof::mutants::components::batch
