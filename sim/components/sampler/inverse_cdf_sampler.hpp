// The textbook sampler in double: running sums, 53-bit uniforms, the last token with weight past the last sum.
//
// Symbols and cost: sim/components/inverse_cdf.hpp.
// Correctness: a sum of V doubles is off by V 2^-53 at most, and a 53-bit uniform moves each of V edges by 2^-53:
// 2 V 2^-54 + V 2^-54 < 1e-10 at V = 2^18.
// Source: folklore.
#pragma once

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/inverse_cdf.hpp>

namespace draftproof::components::sampler {

struct InverseCdfSampler : InverseCdfSteps {
  static constexpr ComponentInfo info{.name = "inverse_cdf_sampler",
                                      .summary = "running sums in double, 53-bit uniforms",
                                      .source = "folklore",
                                      .budget = 1e-10};

  auto prepare(std::span<double> row) const { return InverseCdfTable<InverseCdfSampler>(row); }
};

}  // namespace draftproof::components::sampler
