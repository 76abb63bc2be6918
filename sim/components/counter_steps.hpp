// Counts of trials, in the parts that programs get wrong one at a time: the type of a cell, the type of the number of
// trials, and the address of a trial's words.
//
//   n       trials        trials counted, in Steps::Trials
//   c(x)    cells         trials that emitted token x, in Steps::Cell
//   a       accepted      trials that accepted a draft
//   address(t)            number of trial t in its random source
//
// Cost: one addition a trial, V for a merge.
// Correctness: integers that cannot overflow: sums of parts are sums of trials, so cells sum to n at every read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <draftproof/sim/random/philox.hpp>
#include <draftproof/sim/token.hpp>

namespace draftproof {

/// The right types, and the right address.
struct CounterSteps {
  using Cell = std::uint64_t;
  using Trials = std::uint64_t;
  static std::uint64_t address(std::uint64_t trial) { return trial; }
};

template <class Steps>
class StepCounts {
 public:
  explicit StepCounts(int vocabulary) : cells_(static_cast<std::size_t>(vocabulary)) {}

  /// Counts a trial.
  void add(Verdict verdict) {
    ++trials_;
    accepted_ += verdict.accepted >= 0 ? 1 : 0;
    auto& cell = cells_[static_cast<std::size_t>(verdict.token)];
    cell = static_cast<typename Steps::Cell>(cell + 1);
  }
  /// Adds the counts of another part of the trials.
  void merge(const StepCounts& other) {
    trials_ = static_cast<typename Steps::Trials>(trials_ + other.trials_);
    accepted_ += other.accepted_;
    for (std::size_t x = 0; x < cells_.size(); ++x)
      cells_[x] = static_cast<typename Steps::Cell>(cells_[x] + other.cells_[x]);
  }

  std::uint64_t trials() const { return trials_; }
  std::uint64_t accepted() const { return accepted_; }
  std::uint64_t cell(Token x) const { return static_cast<std::uint64_t>(cells_[static_cast<std::size_t>(x)]); }

 private:
  typename Steps::Trials trials_ = 0;
  std::uint64_t accepted_ = 0;
  std::vector<typename Steps::Cell> cells_;
};

/// The first word of a trial.
template <class Steps>
std::uint64_t first_word_of(std::uint64_t seed, std::uint64_t trial) {
  return Philox(seed, Steps::address(trial), Philox::Role::verify).next(Purpose::flip);
}

}  // namespace draftproof
