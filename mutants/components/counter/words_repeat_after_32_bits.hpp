// Mutant: addresses a trial's words by its number in 32 bits. From trial 2^32 on the same trials are run again:
// counts grow, and evidence with them, of no new trial.
//
// Hidden: below 2^32 trials, and from every count.
//
// Symbols and cost: sim/components/counter_steps.hpp.
// Source: derived here.
#pragma once

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/counter_steps.hpp>

namespace draftproof::mutants::components::counter {

struct WordsRepeatAfter32Bits : CounterSteps {
  static constexpr ComponentInfo info{.name = "words_repeat_after_32_bits",
                                      .summary = "trials 2^32 apart have the same words",
                                      .source = "derived here"};

  static std::uint64_t address(std::uint64_t trial) { return static_cast<std::uint32_t>(trial); }
  using Counts = StepCounts<WordsRepeatAfter32Bits>;
};

}  // namespace draftproof::mutants::components::counter
