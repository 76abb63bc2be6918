// Mutant: Gumbel noise from a 24-bit uniform. -log(-log u) is at most 17.3, so tokens further than that below the
// head are never drawn, and tokens near this distance too rarely.
//
//   u        (word >> 40) + 1/2, in 2^-24
//   E        clock(word)     -log u; the greatest logit - log E is the least E / w
//
// Cost: V logarithms a draw.
// Source: vllm-project/vllm#51367.
// Hidden: except in the tail.
#pragma once

#include <cmath>

#include <draftproof/sim/components/sampler/race_sampler.hpp>

namespace draftproof::mutants::components::sampler {

struct GumbelFrom24BitUniform : draftproof::components::sampler::RaceSampler {
  static constexpr ComponentInfo info{.name = "gumbel_from_24_bit_uniform",
                                      .summary = "Gumbel noise of a 24-bit uniform",
                                      .source = "vllm-project/vllm#51367"};

  static double clock(std::uint64_t word) { return -std::log((static_cast<double>(word >> 40) + 0.5) * 0x1p-24); }

  template <class Noise>
  Token draw(std::span<double> row, Noise& noise) const {
    Token best = no_token;
    double highest = 0;
    for (std::size_t x = 0; x < row.size(); ++x) {
      const double score = std::log(row[x]) - std::log(clock(noise()));
      if (!(row[x] > 0) || (best != no_token && !(score > highest))) continue;
      best = static_cast<Token>(x);
      highest = score;
    }
    return best;
  }
};

}  // namespace draftproof::mutants::components::sampler
