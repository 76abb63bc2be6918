// Counters of trials.
#pragma once

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/counter_steps.hpp>
#include <draftproof/sim/tally.hpp>

namespace draftproof::components::counter {

// Cells of 16 bits that are emptied into sums of 64 bits before one of them can be full. Correct, although a cell
// alone overflows after 65,535 trials.
//
// Symbols and cost: sim/components/counter_steps.hpp.
// Correctness: a cell has at most as many trials as there were since the last flush, and that number is tested.
// Source: histograms in shared memory of kernels.
struct FlushedCells : CounterSteps {
  static constexpr ComponentInfo info{.name = "flushed_cells",
                                      .summary = "cells of 16 bits, emptied before they are full",
                                      .source = "histograms in shared memory of kernels"};

  class Counts {
   public:
    explicit Counts(int vocabulary)
        : fresh_(static_cast<std::size_t>(vocabulary)), sums_(static_cast<std::size_t>(vocabulary)) {}
    void add(Verdict verdict) {
      if (++since_ == 0xFFFF) flush();
      ++trials_;
      accepted_ += verdict.accepted >= 0 ? 1 : 0;
      ++fresh_[static_cast<std::size_t>(verdict.token)];
    }
    void merge(const Counts& other) {
      trials_ += other.trials_;
      accepted_ += other.accepted_;
      for (std::size_t x = 0; x < sums_.size(); ++x) sums_[x] += other.sums_[x] + other.fresh_[x];
    }
    std::uint64_t trials() const { return trials_; }
    std::uint64_t accepted() const { return accepted_; }
    std::uint64_t cell(Token x) const {
      return sums_[static_cast<std::size_t>(x)] + fresh_[static_cast<std::size_t>(x)];
    }

   private:
    void flush() {
      for (std::size_t x = 0; x < sums_.size(); ++x) sums_[x] += fresh_[x];
      fresh_.assign(fresh_.size(), 0);
      since_ = 0;
    }

    std::vector<std::uint16_t> fresh_;
    std::vector<std::uint64_t> sums_;
    std::uint64_t trials_ = 0, accepted_ = 0;
    unsigned since_ = 0;
  };
};

// The counts of draftproof's own simulations, and the addresses of their trials.
//
// Symbols and cost: sim/components/counter_steps.hpp, sim/tally.hpp.
// Correctness: counters of 64 bits; a trial's number is part of its address as a whole.
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
