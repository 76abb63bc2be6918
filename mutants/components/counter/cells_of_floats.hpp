// Mutant: counts tokens in floats. From 2^24 on a trial more changes nothing, and the distance from p stops
// shrinking.
//
// Hidden: below 2^24 trials of a token, and in sums of equal parts, which a float doubles without an error.
//
// Symbols and cost: sim/components/counter_steps.hpp.
// Source: derived here.
#pragma once

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/counter_steps.hpp>

namespace draftproof::mutants::components::counter {

struct CellsOfFloats : CounterSteps {
  static constexpr ComponentInfo info{
      .name = "cells_of_floats", .summary = "cells of a histogram are floats", .source = "derived here"};

  using Cell = float;
  using Counts = StepCounts<CellsOfFloats>;
};

}  // namespace draftproof::mutants::components::counter
