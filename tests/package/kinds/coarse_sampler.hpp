// A wrong sampler: its uniforms have eight bits. The checks of samplers must find this.
#pragma once

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/inverse_cdf.hpp>

namespace mine {

using namespace draftproof;

struct CoarseSampler : InverseCdfSteps {
  static constexpr ComponentInfo info{
      .name = "coarse_sampler", .summary = "uniforms of eight bits", .source = "a test"};

  static double uniform(std::uint64_t word) { return static_cast<double>(word >> 56) / 256; }
  auto prepare(std::span<double> row) const { return InverseCdfTable<CoarseSampler>(row); }
};

}  // namespace mine
