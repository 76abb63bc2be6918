// Counters of trials.
#pragma once

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/counter_steps.hpp>
#include <draftproof/sim/tally.hpp>

namespace draftproof::components::counter {

// Counts in cells of 16 bits, which overflow after 65,535 trials. This is correct, because the cells are added to
// 64-bit sums and emptied (flushed) every 65,535 trials.
//
// The symbols and the cost are described in sim/components/counter_steps.hpp.
// Correctness: a cell counts at most the trials since the last flush, which are at most 65,535.
// Source: histograms in the shared memory of CUDA kernels.
struct FlushedCells : CounterSteps {
  static constexpr ComponentInfo info{.name = "flushed_cells",
                                      .summary = "cells of 16 bits, flushed before they overflow",
                                      .source = "histograms in shared memory of kernels"};

  using Cell = std::uint16_t;
  static constexpr std::uint64_t flush = 0xFFFF;
  using Counts = StepCounts<FlushedCells>;
};

// The counter of draftproof's simulations, and the addresses of their trials.
//
// The symbols and the cost are described in sim/components/counter_steps.hpp and sim/tally.hpp.
// Correctness: counts have 64 bits; all 64 bits of a trial's number are in its address.
struct FrameworkTally : CounterSteps {
  static constexpr ComponentInfo info{
      .name = "framework_tally", .summary = "the counts of simulations, 64 bits each", .source = "sim/tally.hpp"};

  class Counts {
   public:
    explicit Counts(int vocabulary) { tally_.histogram.resize(static_cast<std::size_t>(vocabulary)); }
    void add(Verdict verdict) { tally_.add(verdict, &verdict.token, 1); }
    /// Adds a block of equal trials by repeated doubling.
    void add(Verdict verdict, std::uint64_t times) {
      Counts part(static_cast<int>(tally_.histogram.size()));
      part.add(verdict);
      for (; times > 0; times /= 2) {
        if (times % 2 != 0) merge(part);
        part.merge(Counts(part));
      }
    }
    void merge(const Counts& other) { tally_ += other.tally_; }
    std::uint64_t trials() const { return tally_.trials; }
    std::uint64_t accepted() const { return tally_.draft_accepted; }
    std::uint64_t cell(Token x) const { return tally_.histogram[static_cast<std::size_t>(x)]; }

   private:
    Tally tally_;
  };
};

}  // namespace draftproof::components::counter
