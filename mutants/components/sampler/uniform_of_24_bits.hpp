// Mutant: the textbook sampler with 24-bit uniforms, so that a token's probability is a multiple of 2^-24.
//
// sim/components/inverse_cdf.hpp has symbols and cost.
// Source: derived here; the law of the program is exact.
// Error: total variation up to V 2^-25 by the grid.
// Hidden: at small V.
#pragma once

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/inverse_cdf.hpp>

namespace draftproof::mutants::components::sampler {

struct UniformOf24Bits : InverseCdfSteps {
  static constexpr ComponentInfo info{.name = "uniform_of_24_bits",
                                      .summary = "uniforms on a grid of 2^-24",
                                      .source = "class property of float uniforms"};

  static double uniform(std::uint64_t word) { return static_cast<double>(word >> 40) * 0x1p-24; }

  auto prepare(std::span<double> row) const { return InverseCdfTable<UniformOf24Bits>(row); }
};

}  // namespace draftproof::mutants::components::sampler
