// Mutant: if rounding makes the last sum smaller than 1 and the uniform is not below it, returns the last id, even
// one without weight.
//
// sim/components/inverse_cdf.hpp has symbols and cost.
// Source: sgl-project/sglang#22643.
// Hidden: if the last token has weight, or sums round to 1 or above.
#pragma once

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/inverse_cdf.hpp>

namespace draftproof::mutants::components::sampler {

struct FallbackToLastId : InverseCdfSteps {
  static constexpr ComponentInfo info{.name = "fallback_to_last_id",
                                      .summary = "where rounding leaves no bucket the last id is returned",
                                      .source = "sgl-project/sglang#22643"};

  template <class SumList>
  static Token past_the_end(const SumList& sums) {
    return static_cast<Token>(sums.size()) - 1;
  }

  auto prepare(std::span<double> row) const { return InverseCdfTable<FallbackToLastId>(row); }
};

}  // namespace draftproof::mutants::components::sampler
