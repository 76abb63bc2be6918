// A small exact test case: target and proposals as integer weights, and a number of drafts. It prints and parses as
// "p=(1 2 1)/4 q=(3 1 1)/5 K=2", so that a reader can check and replay a counterexample.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <draftproof/exact/rational.hpp>
#include <draftproof/sim/distributions/plain_rows.hpp>

namespace draftproof {

struct Instance {
  std::vector<int> target;                  ///< V weights, at least one positive
  std::vector<std::vector<int>> proposals;  ///< one row, or one for each draft, of the target's size
  int drafts = 1;

  int vocabulary() const { return static_cast<int>(target.size()); }
  /// The laws in fractions.
  Rows<Rational> rows() const;
  /// Whether every row has V non-negative weights, at least one of them positive.
  bool valid() const;
  std::string text() const;
  /// The inverse of text(). Throws: std::invalid_argument, which says what was found and what was expected.
  static Instance parse(std::string_view text);

  bool operator==(const Instance&) const = default;
};

/// Pointers to the target and the proposals, for editing.
std::vector<std::vector<int>*> rows_of(Instance& instance);

/// The valid instances that are one step smaller, most drastic first: fewer drafts, a token dropped, two tokens
/// merged, weights halved, a row made uniform on its support, single weights lowered.
std::vector<Instance> shrinks(const Instance& instance);

}  // namespace draftproof
