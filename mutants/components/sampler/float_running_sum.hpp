// Mutant: the textbook sampler with running sums in float. Late sums are multiples of 2^-24, so the weights of rare
// tokens are rounded away.
//
// sim/components/inverse_cdf.hpp has symbols and cost.
// Source: derived here; the law of the program is exact.
// Error: total variation 1e-4 at V = 32,000, 1e-3 at 262,144.
// Hidden: at small V.
#pragma once

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/inverse_cdf.hpp>

namespace draftproof::mutants::components::sampler {

struct FloatRunningSum : InverseCdfSteps {
  static constexpr ComponentInfo info{.name = "float_running_sum",
                                      .summary = "running sums in float, left to right",
                                      .source = "class property of textbook samplers"};

  using Sum = float;

  auto prepare(std::span<double> row) const { return InverseCdfTable<FloatRunningSum>(row); }
};

}  // namespace draftproof::mutants::components::sampler
