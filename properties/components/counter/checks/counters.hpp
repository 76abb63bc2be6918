// Checks of counters.
#pragma once

#include <fmt/format.h>

#include <draftproof/properties/components/counter/counter_group.hpp>

namespace draftproof::checks::counter {

// Conservation at every read: the cells sum to the number of trials, the accepted trials are no more than that
// number, and each counter equals the number of additions to it.
//
// Cost: one addition per trial of a round, V per doubling.
//
// Correctness: every trial emits one token, which adds 1 to one cell, and adds at most 1 to the accepted trials.
struct Conservation {
  static constexpr std::string_view name = "conservation";
  static constexpr std::string_view about = "the cells sum to the number of trials at every read";

  static Answer check(const TrialCounter& counter, const CounterCase& one, std::uint64_t& work) {
    std::uint64_t round = 0;
    for (const int weight : one.weights) round += static_cast<std::uint64_t>(weight);
    const std::vector<CounterRead> reads = counter.reads(one);
    if (reads.empty()) return Answer::undecided(fmt::format("a run of {} trials needs add(verdict, times)", one.run));
    for (const CounterRead& read : reads) {
      ++work;
      const std::string when =
          fmt::format("after {} doublings{}", read.doublings,
                      one.run == 0 ? "" : fmt::format(", the run {}", read.block ? "as a block" : "one by one"));
      const std::uint64_t rounds = (std::uint64_t{2} << read.doublings) - 1;
      const std::uint64_t run = static_cast<std::uint64_t>(one.run) << read.doublings;
      std::uint64_t sum = 0;
      for (const std::uint64_t cell : read.cells) sum += cell;
      if (sum != read.trials || read.accepted > read.trials)
        return Answer::failed(fmt::format("{} the cells sum to {}, of {} trials, {} of them accepted", when, sum,
                                          read.trials, read.accepted));
      if (read.trials != rounds * round + run)
        return Answer::failed(
            fmt::format("{} {} trials are counted, expected {}", when, read.trials, rounds * round + run));
      for (std::size_t x = 0; x < read.cells.size(); ++x)
        if (const auto wanted = rounds * static_cast<std::uint64_t>(one.weights[x]) + (x == 0 ? run : 0);
            read.cells[x] != wanted)
          return Answer::failed(
              fmt::format("{} token {} has {} trials, expected {}", when, x, read.cells[x], wanted));
    }
    return Answer::passed();
  }
};

// Trials 2^d apart have different random bits.
//
// Cost: two 64-bit draws for each of 64 trials.
//
// Correctness: 64 equal pairs have probability 2^-4096 if the bits are random.
struct TrialsHaveOwnWords {
  static constexpr std::string_view name = "trials_have_own_words";
  static constexpr std::string_view about =
      "trials whose numbers differ by a power of two have different random bits";

  static Answer check(const TrialCounter& counter, const CounterCase& one, std::uint64_t& work) {
    int equal = 0;
    for (std::uint64_t trial = 0; trial < 64; ++trial, ++work)
      equal += counter.word(1, trial) == counter.word(1, trial + (std::uint64_t{1} << one.doublings));
    if (equal == 64)
      return Answer::failed(
          fmt::format("trials 0 .. 63 and the trials 2^{} later have the same random bits", one.doublings));
    return Answer::passed();
  }
};

}  // namespace draftproof::checks::counter
