// Mutants of samplers. `Hidden` says where a bug does not show.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/inverse_cdf.hpp>
#include <draftproof/sim/components/sampler/samplers.hpp>
#include <draftproof/sim/token.hpp>

namespace draftproof::mutants::components::sampler {

// Mutant: the uniform is a 32-bit integer scaled in float. The largest 128 of the 2^32 integers give the uniform 1,
// which no running sum exceeds, so the scan runs off the end.
//
// sim/components/inverse_cdf.hpp describes symbols and cost.
// Source: sgl-project/sglang#30822, found in review.
// Hidden: except for the largest integers.
struct CoinCanBeOne : InverseCdfSteps {
  static constexpr ComponentInfo info{.name = "coin_can_be_one",
                                      .summary = "32-bit integers scaled to float: the largest round to 1",
                                      .source = "sgl-project/sglang#30822"};

  static double uniform(std::uint64_t word) {
    return static_cast<double>(static_cast<float>(static_cast<std::uint32_t>(word >> 32)) * 0x1p-32F);
  }
  template <class SumList>
  static Token past_the_end(const SumList& sums) {
    return static_cast<Token>(sums.size());
  }

  auto prepare(std::span<double> row) const { return InverseCdfTable<CoinCanBeOne>(row); }
};

// Mutant: if rounding makes the last running sum smaller than 1 and the uniform is not below this sum, returns the last
// id, even if its token has weight 0.
//
// sim/components/inverse_cdf.hpp describes symbols and cost.
// Source: sgl-project/sglang#22643.
// Hidden: if the last token has weight, or sums round to 1 or above.
struct FallbackToLastId : InverseCdfSteps {
  static constexpr ComponentInfo info{
      .name = "fallback_to_last_id",
      .summary = "the last id is returned if rounding leaves the uniform without a bucket",
      .source = "sgl-project/sglang#22643"};

  template <class SumList>
  static Token past_the_end(const SumList& sums) {
    return static_cast<Token>(sums.size()) - 1;
  }

  auto prepare(std::span<double> row) const { return InverseCdfTable<FallbackToLastId>(row); }
};

// Mutant: the textbook sampler with running sums in float. Running sums above 1/2 are multiples of 2^-24, so the
// weights of rare tokens are rounded away.
//
// sim/components/inverse_cdf.hpp describes symbols and cost.
// Source: derived here; the distribution of the program is computed exactly.
// Error: total variation 1e-4 at V = 32,000, 1e-3 at 262,144.
// Hidden: at small V.
struct FloatRunningSum : InverseCdfSteps {
  static constexpr ComponentInfo info{.name = "float_running_sum",
                                      .summary = "running sums in float, left to right",
                                      .source = "common to textbook samplers"};

  using Sum = float;

  auto prepare(std::span<double> row) const { return InverseCdfTable<FloatRunningSum>(row); }
};

// Mutant: Gumbel noise from a 24-bit uniform. -log(-log u) is at most 17.3, so tokens whose logit is more than about 17
// below the largest logit are never drawn, and tokens near this bound are drawn too rarely.
//
//   u        (x >> 40) + 1/2 of 64 random bits x, in units of 2^-24
//   E        clock(word)     -log u; the greatest logit - log E is the least E / w
//
// Cost: V logarithms per draw.
// Source: vllm-project/vllm#51367.
// Hidden: for all tokens but those of low probability.

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

// Mutant: a race (the token with the least E / w wins) that divides the row by the noise in place. The winner is right,
// but the buffer with the row is read again later as the distribution of the drafts.
//
//   E        clock(word)     exponential number from 64 random bits
//
// Cost: V clocks per draw.
// Source: vllm-project/vllm#16952.
// Hidden: in the distribution of the draw; visible in the row, which no longer sums to 1.
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

// Mutant: the textbook sampler with 24-bit uniforms, so that a token's probability is a multiple of 2^-24.
//
// sim/components/inverse_cdf.hpp describes symbols and cost.
// Source: derived here; the distribution of the program is computed exactly.
// Error: total variation up to V 2^-25, because probabilities are rounded to the grid.
// Hidden: at small V.
struct UniformOf24Bits : InverseCdfSteps {
  static constexpr ComponentInfo info{
      .name = "uniform_of_24_bits", .summary = "uniforms on a grid of 2^-24", .source = "common to float uniforms"};

  static double uniform(std::uint64_t word) { return static_cast<double>(word >> 40) * 0x1p-24; }

  auto prepare(std::span<double> row) const { return InverseCdfTable<UniformOf24Bits>(row); }
};

// Mutant: a race by the largest w / E whose exponential can be 0. For a token with w = 0, w / E is then 0 / 0, a NaN,
// and the comparison lets a NaN win.
//
//   u        32 random bits as a float in units of 2^-32: the largest round to 1
//   E        clock(word)     -log u, 0 with probability 2^-25
//
// Cost: V logarithms per draw.
// Source: pytorch/pytorch#192577.
// Error: tokens without weight can be drawn: at V = 152,000 in one of 220 draws.

struct ZeroExponentialWins {
  static constexpr ComponentInfo info{.name = "zero_exponential_wins",
                                      .summary = "a clock of 0 divided by a weight of 0 wins the race",
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
