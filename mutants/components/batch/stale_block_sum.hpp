// Mutant: reads the sum of a residual before this row's partial sums are added. From the second refusal of a batch
// on, the draw is scaled by the sum of the first.
//
//   S        scratch.residual_sum      sum stored by the first draw
//
// sim/components/chain_steps.hpp has other symbols and cost.
// Source: flashinfer-ai/flashinfer#424, as a sequential program.
// Error: too small a sum cuts off the last tokens; too large a sum gives them the difference.
// Hidden: in batches of one.
#pragma once

#include <draftproof/sim/components/chain_steps.hpp>
#include <draftproof/sim/components/component_info.hpp>

namespace draftproof::mutants::components::batch {

struct StaleBlockSum : ChainSteps {
  static constexpr ComponentInfo info{.name = "stale_block_sum",
                                      .summary = "the residual's sum is that of the first row that refused",
                                      .source = "flashinfer-ai/flashinfer#424"};

  template <class F, class Source>
  Token extra(int vocabulary, const F& weight, ChainScratch& scratch, Source& random) const {
    double total = 0;
    Token last = no_token;
    for (Token x = 0; x < vocabulary; ++x)
      if (const double w = weight(x); w > 0) {
        total += w;
        last = x;
      }
    if (scratch.residual_sum < 0) scratch.residual_sum = total;
    const double sum = scratch.residual_sum;
    const auto scanned = [=](Token x) {
      double before = 0;
      for (Token y = 0; y < x; ++y) before += weight(y);
      const double end = x == last ? sum : std::min(before + weight(x), sum);
      return std::max(end - before, 0.0);
    };
    return random.pick(ScaledWeights(vocabulary, scanned));
  }
};

}  // namespace draftproof::mutants::components::batch
