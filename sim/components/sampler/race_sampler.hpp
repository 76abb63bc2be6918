// Draws by a race of exponential clocks, one word a token: the sampler of couplings and of the Gumbel trick.
//
//   E        clock(word)     exponential of a word (sim/numeric/exponential_variate.hpp), never 0
//   w        row[x]          weight of token x, which arrives at E / w
//
// Cost: V clocks a draw.
// Correctness: the first of independent exponential clocks of rates w is x with probability w(x) / sum w; a token
// without weight never arrives.
// Source: folklore.
#pragma once

#include <span>

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/sampling/exponential_race.hpp>

namespace draftproof::components::sampler {

struct RaceSampler {
  static constexpr ComponentInfo info{.name = "race_sampler",
                                      .summary = "first of exponential clocks",
                                      .source = "sim/sampling/exponential_race.hpp"};

  static double clock(std::uint64_t word) { return exponential(word); }

  template <class Noise>
  Token draw(std::span<double> row, Noise& noise) const {
    Candidate first;
    for (std::size_t x = 0; x < row.size(); ++x) {
      const double time = clock(noise());
      const Candidate arrival{time / row[x], static_cast<Token>(x)};
      if (row[x] > 0 && arrival.before(first)) first = arrival;
    }
    return first.token;
  }
};

}  // namespace draftproof::components::sampler
