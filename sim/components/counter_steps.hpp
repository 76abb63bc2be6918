// A counter of trials, split into the parts in which programs have bugs: the type of a cell, the time at which cells
// are emptied into 64-bit sums, the type of the number of trials, and the address of a trial's random bits.
//
//   n       trials        trials counted, in Steps::Trials
//   c(x)    cells         trials that emitted token x since the last flush, in Steps::Cell
//   s(x)    sums          trials that emitted token x before the last flush, in 64 bits
//   a       accepted      trials that accepted a draft
//   address(t)            number of trial t in its random source
//
// Cost: one addition for a trial, or for a block of equal trials between two flushes; V for a merge or a flush.
// Correctness: the integers do not overflow, so the sum of all c(x) + s(x) is n at every read and after every merge. A
// block changes the counts as its trials would if they were added one by one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <draftproof/sim/random/philox.hpp>
#include <draftproof/sim/token.hpp>

namespace draftproof {

/// The correct types of the integers, and the correct address of a trial's random bits.
struct CounterSteps {
  using Cell = std::uint64_t;
  using Trials = std::uint64_t;
  static constexpr std::uint64_t flush = 0;  ///< number of trials between two flushes; 0: cells are never emptied
  /// Returns the cell after `trials` more trials, counted one by one.
  template <class Cell>
  static Cell more(Cell cell, std::uint64_t trials) {
    return static_cast<Cell>(cell + trials);
  }
  static std::uint64_t address(std::uint64_t trial) { return trial; }
};

template <class Steps>
class StepCounts {
 public:
  explicit StepCounts(int vocabulary)
      : cells_(static_cast<std::size_t>(vocabulary)), sums_(static_cast<std::size_t>(vocabulary)) {}

  /// Counts `times` equal trials.
  void add(Verdict verdict, std::uint64_t times = 1) {
    trials_ = static_cast<Trials>(trials_ + times);
    accepted_ += verdict.accepted >= 0 ? times : 0;
    const auto x = static_cast<std::size_t>(verdict.token);
    if constexpr (Steps::flush > 0) {
      const std::uint64_t now = std::min(times, Steps::flush - since_);
      count(x, now);
      times -= now;
      if (since_ == Steps::flush) flush();
      // Adds whole intervals between flushes, in which every trial emitted this token.
      sums_[x] += times / Steps::flush * static_cast<std::uint64_t>(Steps::more(Cell{0}, Steps::flush));
      times %= Steps::flush;
    }
    count(x, times);
  }
  /// Adds the counts of other trials.
  void merge(const StepCounts& other) {
    trials_ = static_cast<Trials>(trials_ + other.trials_);
    accepted_ += other.accepted_;
    for (std::size_t x = 0; x < cells_.size(); ++x) {
      sums_[x] += other.sums_[x];
      if (Steps::flush > 0)
        sums_[x] += static_cast<std::uint64_t>(other.cells_[x]);
      else
        cells_[x] = static_cast<Cell>(cells_[x] + other.cells_[x]);
    }
  }

  std::uint64_t trials() const { return trials_; }
  std::uint64_t accepted() const { return accepted_; }
  std::uint64_t cell(Token x) const {
    return sums_[static_cast<std::size_t>(x)] + static_cast<std::uint64_t>(cells_[static_cast<std::size_t>(x)]);
  }

 private:
  using Cell = typename Steps::Cell;
  using Trials = typename Steps::Trials;

  void count(std::size_t x, std::uint64_t trials) {
    cells_[x] = Steps::more(cells_[x], trials);
    since_ += trials;
  }
  void flush() {
    for (std::size_t x = 0; x < cells_.size(); ++x) sums_[x] += static_cast<std::uint64_t>(cells_[x]);
    cells_.assign(cells_.size(), Cell{0});
    since_ = 0;
  }

  Trials trials_ = 0;
  std::uint64_t accepted_ = 0, since_ = 0;
  std::vector<Cell> cells_;
  std::vector<std::uint64_t> sums_;
};

/// Returns the random bits of the first flip of a trial.
template <class Steps>
std::uint64_t first_word_of(std::uint64_t seed, std::uint64_t trial) {
  return Philox(seed, Steps::address(trial), Philox::Role::verify).next(Purpose::flip);
}

}  // namespace draftproof
