// A readable case of counting: rounds of trials, and how often what was counted is merged with a copy of itself. It
// prints and parses as "counts=(2 1)/3 doublings=16".
//
//   w    weights      trials of a round that emit each token; those of token 0 accept a draft
//   d    doublings    before the first and after each doubling a round is counted
//
// Correctness: after d doublings token x was counted w(x) (2^(d+1) - 1) times, without that many trials.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace draftproof {

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

}  // namespace draftproof
