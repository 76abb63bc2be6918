// Mutant: counts trials in 32 bits. After 2^32 of them shares are taken of a number that began again.
//
// Hidden: below 2^32 trials.
//
// Symbols and cost: sim/components/counter_steps.hpp.
// Source: derived here.
#pragma once

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/counter_steps.hpp>

namespace draftproof::mutants::components::counter {

struct TrialsOf32Bits : CounterSteps {
  static constexpr ComponentInfo info{
      .name = "trials_of_32_bits", .summary = "the number of trials has 32 bits", .source = "derived here"};

  using Trials = std::uint32_t;
  using Counts = StepCounts<TrialsOf32Bits>;
};

}  // namespace draftproof::mutants::components::counter
