// Mutants of counters: types too small for the counts. `Hidden` says where a bug does not show.
#pragma once

#include <algorithm>

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/counter_steps.hpp>

namespace draftproof::mutants::components::counter {

// Mutant: counts tokens in cells of 16 bits. A cell wraps to 0 at 65,536, so a token's count is too low.
//
// Hidden: below 2^16 trials of a token.
//
// The symbols and the cost are described in sim/components/counter_steps.hpp.
// Source: derived here.
struct CellsOf16Bits : CounterSteps {
  static constexpr ComponentInfo info{
      .name = "cells_of_16_bits", .summary = "cells of a histogram have 16 bits", .source = "derived here"};

  using Cell = std::uint16_t;
  using Counts = StepCounts<CellsOf16Bits>;
};

// Mutant: counts tokens in floats. From 2^24 on adding 1 changes nothing, and the distance from p stops shrinking.
//
// Hidden: below 2^24 trials of a token, and where equal counts are added, because a float is doubled exactly.
//
// The symbols and the cost are described in sim/components/counter_steps.hpp.
// Source: derived here.
struct CellsOfFloats : CounterSteps {
  static constexpr ComponentInfo info{
      .name = "cells_of_floats", .summary = "cells of a histogram are floats", .source = "derived here"};

  using Cell = float;
  static float more(float cell, std::uint64_t trials) {
    return std::max(cell, std::min(cell + static_cast<float>(trials), 0x1p24F));
  }
  using Counts = StepCounts<CellsOfFloats>;
};

// Mutant: empties cells of 16 bits every 2^17 trials, as if they had 17 bits. The cell of a token that most trials emit
// has overflowed before it is emptied.
//
// Hidden: below 2^16 trials of a token between two flushes, and in checks that only merge parts.
//
// The symbols and the cost are described in sim/components/counter_steps.hpp.
// Source: derived here, after histograms in shared memory of kernels.
struct FlushedTooLate : CounterSteps {
  static constexpr ComponentInfo info{.name = "flushed_too_late",
                                      .summary = "cells of 16 bits are flushed every 2^17 trials",
                                      .source = "derived here"};

  using Cell = std::uint16_t;
  static constexpr std::uint64_t flush = 1 << 17;
  using Counts = StepCounts<FlushedTooLate>;
};

// Mutant: counts trials in 32 bits. After 2^32 trials the number wraps, and frequencies are wrong.
//
// Hidden: below 2^32 trials.
//
// The symbols and the cost are described in sim/components/counter_steps.hpp.
// Source: derived here.
struct TrialsOf32Bits : CounterSteps {
  static constexpr ComponentInfo info{
      .name = "trials_of_32_bits", .summary = "the number of trials has 32 bits", .source = "derived here"};

  using Trials = std::uint32_t;
  using Counts = StepCounts<TrialsOf32Bits>;
};

// Mutant: addresses a trial's random bits by the trial's number in 32 bits. From trial 2^32 on the same trials are
// run again: counts grow without new evidence.
//
// Hidden: below 2^32 trials, and in checks of the counts alone, because the number of trials is right.
//
// The symbols and the cost are described in sim/components/counter_steps.hpp.
// Source: derived here.
struct WordsRepeatAfter32Bits : CounterSteps {
  static constexpr ComponentInfo info{.name = "words_repeat_after_32_bits",
                                      .summary = "trials 2^32 apart have the same random bits",
                                      .source = "derived here"};

  static std::uint64_t address(std::uint64_t trial) { return static_cast<std::uint32_t>(trial); }
  using Counts = StepCounts<WordsRepeatAfter32Bits>;
};

}  // namespace draftproof::mutants::components::counter
