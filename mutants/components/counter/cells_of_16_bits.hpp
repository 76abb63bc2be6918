// Mutant: counts tokens in cells of 16 bits. A cell begins again at 65,536, and the token looks as rare as its
// remainder.
//
// Hidden: below 2^16 trials of a token.
//
// Symbols and cost: sim/components/counter_steps.hpp.
// Source: derived here.
#pragma once

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/counter_steps.hpp>

namespace draftproof::mutants::components::counter {

struct CellsOf16Bits : CounterSteps {
  static constexpr ComponentInfo info{
      .name = "cells_of_16_bits", .summary = "cells of a histogram have 16 bits", .source = "derived here"};

  using Cell = std::uint16_t;
  using Counts = StepCounts<CellsOf16Bits>;
};

}  // namespace draftproof::mutants::components::counter
