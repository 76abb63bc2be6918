// Mutant: a race that divides the row by its noise in place. The winner is right, but the buffer is read again later
// as the law of the drafts.
//
//   E        clock(word)     exponential of a word
//
// Cost: V clocks a draw.
// Source: vllm-project/vllm#16952.
// Hidden: in the law of the draw; visible in the row, which no longer sums to 1.
#pragma once

#include <draftproof/sim/components/sampler/race_sampler.hpp>

namespace draftproof::mutants::components::sampler {

struct ProposalOverwrittenByRace : draftproof::components::sampler::RaceSampler {
  static constexpr ComponentInfo info{.name = "proposal_overwritten_by_race",
                                      .summary = "the race divides the row of weights in place",
                                      .source = "vllm-project/vllm#16952"};

  template <class Noise>
  Token draw(std::span<double> row, Noise& noise) const {
    for (double& weight : row) weight /= clock(noise());
    Token best = no_token;
    for (std::size_t x = 0; x < row.size(); ++x)
      if (row[x] > 0 && (best == no_token || row[x] > row[static_cast<std::size_t>(best)]))
        best = static_cast<Token>(x);
    return best;
  }
};

}  // namespace draftproof::mutants::components::sampler
