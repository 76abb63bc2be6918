// A small exact test case: target and proposals as integer weights, and a number of drafts. Prints and parses as
// "p=(1 2 1)/4 q=(3 1 1)/5 K=2", so that a counterexample can be checked by hand and replayed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <draftproof/exact/rational.hpp>
#include <draftproof/sim/distributions/plain_rows.hpp>

namespace draftproof {

struct Instance {
  std::vector<int> target;                  ///< V weights, at least one positive
  std::vector<std::vector<int>> proposals;  ///< one row, or one per draft, each like target
  int drafts = 1;

  int vocabulary() const { return static_cast<int>(target.size()); }
  Rows<Rational> rows() const;
  /// Every row has V non-negative weights and a positive one.
  bool valid() const;
  std::string text() const;
  /// Throws std::invalid_argument with what was found and wanted.
  static Instance parse(std::string_view text);

  bool operator==(const Instance&) const = default;
};

/// Target and proposals, to be edited.
std::vector<std::vector<int>*> rows_of(Instance& instance);

/// One step shrinks, most drastic first: fewer drafts, a token dropped, two tokens merged, weights halved, a row made
/// uniform on its support, single weights lowered. Valid instances only.
std::vector<Instance> shrinks(const Instance& instance);

}  // namespace draftproof
