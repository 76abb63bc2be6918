// Counters of trials under test, and the cases on which they are checked.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <draftproof/properties/components/component.hpp>
#include <draftproof/properties/components/component_group.hpp>
#include <draftproof/properties/instances/instance_text.hpp>
#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/counter_steps.hpp>
#include <draftproof/sim/token.hpp>

namespace draftproof {

// A readable case of counting: rounds of trials, a run of equal ones, and how often the counts are merged with
// a copy of themselves. It prints and parses as "counts=(2 1)/3 doublings=16 run=65536".
//
//   w    weights      trials of a round that emit each token; trials that emit token 0 accept a draft
//   d    doublings    merges with a copy; a round is counted before the first and after each of them
//   r    run          trials of token 0 after the first round: added as a block, one by one, or both
//
// Correctness: after d doublings token x has w(x) (2^(d+1) - 1) counts and token 0 another r 2^d, without that
// many trials being run. Merges make cells overflow in sums; runs make cells overflow between two flushes, at
// any interval between flushes.

struct CounterCase {
  static constexpr int most_doublings = 40, most_merged = 8;  ///< most_merged: limit on doublings if run > 0
  static constexpr std::int64_t most_run = std::int64_t{1} << 35;

  std::vector<int> weights;
  int doublings = 0;
  std::int64_t run = 0;

  bool valid() const;
  std::string text() const;
  /// The inverse of text(). Throws: std::invalid_argument, which names the text and the expected format.
  static CounterCase parse(std::string_view text);
  static constexpr std::string_view example = "counts=(2 1)/3 doublings=16";

  bool operator==(const CounterCase&) const = default;
};

/// Returns a pointer to the row, for editing.
std::vector<std::vector<int>*> rows_of(CounterCase& one);

/// Returns the cases one step smaller: fewer doublings, a shorter run, one token less, smaller weights.
std::vector<CounterCase> shrinks(const CounterCase& one);

/// The counts of a case at one read.
struct CounterRead {
  int doublings;
  bool block;  ///< whether the run was added in one call, as a block
  std::uint64_t trials, accepted;
  std::vector<std::uint64_t> cells;
};

/// A type-erased counter.
class TrialCounter {
 public:
  using Reads = std::vector<CounterRead> (*)(const CounterCase&);
  using Word = std::uint64_t (*)(std::uint64_t seed, std::uint64_t trial);

  TrialCounter(const ComponentInfo& info, Reads reads_function, Word word_function)
      : info_{info}, reads_{reads_function}, word_{word_function} {}
  const ComponentInfo& info() const { return info_; }
  /// Returns the counts after each round of the case; the run is counted after the first round. A counter with
  /// `add(verdict, times)` adds every run as a block, and a run of at most `most_beside` trials also one by
  /// one. Otherwise runs of at most `most_alone` trials are added one by one, and longer runs return no reads.
  static constexpr std::int64_t most_beside = (std::int64_t{1} << 17) + 1, most_alone = (std::int64_t{1} << 25) + 1;
  std::vector<CounterRead> reads(const CounterCase& one) const { return reads_(one); }
  /// Returns the first 64 random bits of trial `trial` of a seed.
  std::uint64_t word(std::uint64_t seed, std::uint64_t trial) const { return word_(seed, trial); }

 private:
  const ComponentInfo& info_;
  Reads reads_;
  Word word_;
};

template <class Counter>
TrialCounter trial_counter() {
  using Counts = typename Counter::Counts;
  constexpr bool has_blocks = requires(Counts counts) { counts.add(Verdict{}, std::uint64_t{2}); };
  const auto reads = [](const CounterCase& one) {
    std::vector<CounterRead> found;
    const Verdict first = accepted(0, 0);
    for (const bool block : {false, true}) {
      if (block ? !has_blocks || one.run == 0
                : one.run > (has_blocks ? TrialCounter::most_beside : TrialCounter::most_alone))
        continue;
      Counts counts(static_cast<int>(one.weights.size()));
      const auto read = [&](int doublings) {
        CounterRead& now = found.emplace_back(CounterRead{doublings, block, counts.trials(), counts.accepted(), {}});
        for (Token x = 0; x < std::ssize(one.weights); ++x) now.cells.push_back(counts.cell(x));
      };
      for (int round = 0; round <= one.doublings; ++round) {
        if (round > 0) counts.merge(Counts(counts));
        for (Token x = 0; x < std::ssize(one.weights); ++x)
          for (int n = 0; n < one.weights[static_cast<std::size_t>(x)]; ++n)
            counts.add(x == 0 ? first : Verdict{x, none_accepted});
        if (round == 0 && block) {
          if constexpr (has_blocks) counts.add(first, static_cast<std::uint64_t>(one.run));
        } else if (round == 0) {
          for (std::int64_t n = 0; n < one.run; ++n) counts.add(first);
        }
        read(round);
      }
    }
    return found;
  };
  return {Counter::info, reads, &first_word_of<Counter>};
}

struct CounterGroup {
  static constexpr std::string_view name = "counter";
  using Subject = TrialCounter;
  using Case = CounterCase;

  /// Returns two cases per round for every number of doublings up to 2^40 rounds, and runs near every power of
  /// two up to 2^34.
  static std::vector<CounterCase> cases(std::uint64_t seed, int rounds);
};

// Registration of counters and their checks.

template <class C>
inline constexpr auto register_counter_component = add_component<CounterGroup, trial_counter<C>, Kind::verifier>;
template <class C>
inline constexpr auto register_counter_mutant = add_component<CounterGroup, trial_counter<C>, Kind::mutant>;
template <class C>
inline constexpr auto register_counter_check = add_check<C, CounterGroup>;

}  // namespace draftproof
