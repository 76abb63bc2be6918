// Trials 2^d apart have words of their own.
//
// Cost: two words for each of 64 trials.
//
// Correctness: 64 equal pairs of right words would be a chance of 2^-4096.
#pragma once

#include <fmt/format.h>

#include <draftproof/properties/components/counter/counter_group.hpp>

namespace draftproof::checks::counter {

struct TrialsHaveOwnWords {
  static constexpr std::string_view name = "trials_have_own_words";
  static constexpr std::string_view about = "trials a power of two apart do not repeat";

  static Answer check(const TrialCounter& counter, const CounterCase& one, std::uint64_t& work) {
    int equal = 0;
    for (std::uint64_t trial = 0; trial < 64; ++trial, ++work)
      equal += counter.word(1, trial) == counter.word(1, trial + (std::uint64_t{1} << one.doublings));
    if (equal == 64)
      return Answer::violated(
          fmt::format("trials 0 .. 63 and those 2^{} further have the same words", one.doublings));
    return Answer::held();
  }
};

}  // namespace draftproof::checks::counter
