// The counts of draftproof's own simulations, and the addresses of their trials.
//
// Symbols and cost: sim/components/counter_steps.hpp, sim/tally.hpp.
// Correctness: counters of 64 bits; a trial's number is part of its address as a whole.
#pragma once

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/counter_steps.hpp>
#include <draftproof/sim/tally.hpp>

namespace draftproof::components::counter {

struct FrameworkTally : CounterSteps {
  static constexpr ComponentInfo info{
      .name = "framework_tally", .summary = "the counts of simulations, 64 bits each", .source = "sim/tally.hpp"};

  class Counts {
   public:
    explicit Counts(int vocabulary) { tally_.histogram.resize(static_cast<std::size_t>(vocabulary)); }
    void add(Verdict verdict) { tally_.add(verdict, &verdict.token, 1); }
    void merge(const Counts& other) { tally_ += other.tally_; }
    std::uint64_t trials() const { return tally_.trials; }
    std::uint64_t accepted() const { return tally_.flagged; }
    std::uint64_t cell(Token x) const { return tally_.histogram[static_cast<std::size_t>(x)]; }

   private:
    Tally tally_;
  };
};

}  // namespace draftproof::components::counter
