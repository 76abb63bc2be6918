// Counters of trials as subjects of checks, and the cases on which they are checked.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <draftproof/properties/components/component.hpp>
#include <draftproof/properties/components/component_group.hpp>
#include <draftproof/properties/components/component_registry.hpp>
#include <draftproof/properties/instances/generator.hpp>
#include <draftproof/properties/instances/instance_text.hpp>
#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/counter_steps.hpp>
#include <draftproof/sim/token.hpp>

namespace draftproof {

// A readable case of counting: rounds of trials, and how often what was counted is merged with a copy of itself. It
// prints and parses as "counts=(2 1)/3 doublings=16".
//
//   w    weights      trials of a round that emit each token; those of token 0 accept a draft
//   d    doublings    before the first and after each doubling a round is counted
//
// Correctness: after d doublings token x was counted w(x) (2^(d+1) - 1) times, without that many trials.

struct CounterCase {
  static constexpr int most_doublings = 40;

  std::vector<int> weights;
  int doublings = 0;

  bool valid() const;
  std::string text() const;
  /// The inverse of text(). Throws: std::invalid_argument, which says what was found and what was expected.
  static CounterCase parse(std::string_view text);
  static constexpr std::string_view example = "counts=(2 1)/3 doublings=16";

  bool operator==(const CounterCase&) const = default;
};

/// Pointers to the row, for editing.
std::vector<std::vector<int>*> rows_of(CounterCase& one);

/// The cases one step smaller: fewer doublings, one token less, smaller weights.
std::vector<CounterCase> shrinks(const CounterCase& one);

/// Counts of a case, at one read.
struct CounterRead {
  int doublings;
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
  /// The counts after each round of the case.
  std::vector<CounterRead> reads(const CounterCase& one) const { return reads_(one); }
  /// The first word that trial number `trial` of a seed gets.
  std::uint64_t word(std::uint64_t seed, std::uint64_t trial) const { return word_(seed, trial); }

 private:
  const ComponentInfo& info_;
  Reads reads_;
  Word word_;
};

template <class Counter>
TrialCounter trial_counter() {
  const auto reads = [](const CounterCase& one) {
    std::vector<CounterRead> found;
    typename Counter::Counts counts(static_cast<int>(one.weights.size()));
    for (int round = 0; round <= one.doublings; ++round) {
      if (round > 0) counts.merge(typename Counter::Counts(counts));
      for (Token x = 0; x < std::ssize(one.weights); ++x)
        for (int n = 0; n < one.weights[static_cast<std::size_t>(x)]; ++n)
          counts.add(x == 0 ? accepted(x, 0) : Verdict{x, none_accepted});
      CounterRead& read = found.emplace_back(CounterRead{round, counts.trials(), counts.accepted(), {}});
      for (Token x = 0; x < std::ssize(one.weights); ++x) read.cells.push_back(counts.cell(x));
    }
    return found;
  };
  return {Counter::info, reads, &first_word_of<Counter>};
}

struct CounterGroup {
  static constexpr std::string_view name = "counter";
  using Subject = TrialCounter;
  using Case = CounterCase;

  /// Two cases a round for every number of doublings up to 2^40 rounds.
  static std::vector<CounterCase> cases(std::uint64_t seed, int rounds) {
    std::vector<CounterCase> cases;
    for (int n = 0; n < 2 * rounds * (CounterCase::most_doublings + 1); ++n) {
      InstanceRng dice(seed, static_cast<std::uint64_t>(n));
      CounterCase one{.weights = {}, .doublings = n % (CounterCase::most_doublings + 1)};
      for (int x = dice.between(2, 4); x > 0; --x) one.weights.push_back(dice.between(0, 9));
      repair_weights(one.weights, 1, dice);
      cases.push_back(std::move(one));
    }
    return cases;
  }
};

// Registration of counters and their checks.

template <class C>
void register_counter_component() {
  ComponentRegistry::instance().add(std::make_unique<ComponentOf<CounterGroup>>(trial_counter<C>(), Kind::verifier));
}
template <class C>
void register_counter_mutant() {
  ComponentRegistry::instance().add(std::make_unique<ComponentOf<CounterGroup>>(trial_counter<C>(), Kind::mutant));
}
template <class C>
void register_counter_check() {
  add_check<C, CounterGroup>();
}

}  // namespace draftproof
