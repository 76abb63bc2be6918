// Mutant: a race by the largest w / E whose exponential can be 0. Then 0 / 0 is NaN, and comparisons with NaN let it
// win.
//
//   u        float of 32 bits in 2^-32: the largest round to 1
//   E        clock(word)     -log u, 0 for 2^-25 of all words
//
// Cost: V logarithms a draw.
// Source: pytorch/pytorch#192577.
// Error: tokens without weight can be drawn: at V = 152,000 in one of 220 draws.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/token.hpp>

namespace draftproof::mutants::components::sampler {

struct ZeroExponentialWins {
  static constexpr ComponentInfo info{.name = "zero_exponential_wins",
                                      .summary = "an exponential of 0 over a weight of 0 wins",
                                      .source = "pytorch/pytorch#192577"};

  static double clock(std::uint64_t word) {
    return static_cast<double>(-std::log(static_cast<float>(static_cast<std::uint32_t>(word >> 32)) * 0x1p-32F));
  }

  template <class Noise>
  Token draw(std::span<double> row, Noise& noise) const {
    Token best = 0;
    double highest = 0;
    for (std::size_t x = 0; x < row.size(); ++x) {
      const double score = row[x] / clock(noise());
      if (x > 0 && score <= highest) continue;  // false if either is NaN
      best = static_cast<Token>(x);
      highest = score;
    }
    return best;
  }
};

}  // namespace draftproof::mutants::components::sampler
