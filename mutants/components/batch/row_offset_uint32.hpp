// Mutant: computes the offset of a row in 32 bits without a sign. Rows beyond 2^32 elements are read from the
// beginning of the array; rows between 2^31 and 2^32 elements, which a signed offset misses, are right.
//
// sim/components/chain_steps.hpp has steps, symbols and cost.
// Source: derived here, as a repair of row_offset_int32.
// Hidden: below 2^32 elements.
#pragma once

#include <draftproof/sim/components/chain_steps.hpp>
#include <draftproof/sim/components/component_info.hpp>

namespace draftproof::mutants::components::batch {

struct RowOffsetUint32 : ChainSteps {
  static constexpr ComponentInfo info{
      .name = "row_offset_uint32", .summary = "row times pitch in 32 bits without a sign", .source = "derived here"};

  std::int64_t offset(std::int64_t row, std::int64_t pitch) const {
    return static_cast<std::uint32_t>(row) * static_cast<std::uint32_t>(pitch);
  }
};

}  // namespace draftproof::mutants::components::batch
