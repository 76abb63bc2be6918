// Mutant: the uniform is a 32-bit integer scaled in float. The largest 128 of 2^32 round to 1, and the scan runs off
// the end.
//
// sim/components/inverse_cdf.hpp has symbols and cost.
// Source: sgl-project/sglang#30822, found in review.
// Hidden: except for the largest words.
#pragma once

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/inverse_cdf.hpp>

namespace draftproof::mutants::components::sampler {

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

}  // namespace draftproof::mutants::components::sampler
