// Mutant: computes the offset of a row in 32 bits, which wraps. Rows beyond 2^31 elements are read from before the
// array.
//
// sim/components/chain_steps.hpp has steps, symbols and cost. The product is taken modulo 2^32, which is the result
// of the overflow on the machines of interest.
// Source: vllm-project/vllm#46560.
// Hidden: below 2^31 elements.
#pragma once

#include <draftproof/sim/components/chain_steps.hpp>
#include <draftproof/sim/components/component_info.hpp>

namespace draftproof::mutants::components::batch {

struct RowOffsetInt32 : ChainSteps {
  static constexpr ComponentInfo info{.name = "row_offset_int32",
                                      .summary = "row times pitch in 32-bit signed arithmetic",
                                      .source = "vllm-project/vllm#46560"};

  std::int64_t offset(std::int64_t row, std::int64_t pitch) const {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(row) * static_cast<std::uint32_t>(pitch));
  }
};

}  // namespace draftproof::mutants::components::batch
