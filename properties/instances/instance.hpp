// A small exact test case: target and proposals as integer weights, and a number of drafts. It prints and
// parses as "p=(1 2 1)/4 q=(3 1 1)/5 K=2", so that a counterexample can be checked by hand and replayed. This file also
// has functions that edit the proposals and that return the rows in double, for instances of positions and of paths.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <draftproof/optimum/exact/rational.hpp>
#include <draftproof/properties/instances/path_instance.hpp>
#include <draftproof/sim/distributions/plain_rows.hpp>
#include <draftproof/sim/trees/conditional_model.hpp>

namespace draftproof {

struct Instance {
  std::vector<int> target;                  ///< V weights, at least one positive
  std::vector<std::vector<int>> proposals;  ///< one row, or one for each draft, of the target's size
  int drafts = 1;

  int vocabulary() const { return static_cast<int>(target.size()); }
  /// Returns the rows in fractions.
  Rows<Rational> rows() const;
  /// Whether every row has V non-negative weights, at least one of them positive.
  bool valid() const;
  std::string text() const;
  /// The inverse of text(). Throws: std::invalid_argument, which names the text and the expected format.
  static Instance parse(std::string_view text);

  bool operator==(const Instance&) const = default;
};

/// Returns pointers to the target and the proposals, for editing.
std::vector<std::vector<int>*> rows_of(Instance& instance);

/// Returns the valid instances that are one step smaller, most drastic first: fewer drafts, a token dropped,
/// two tokens merged, weights halved, a row made uniform on its support, single weights lowered.
std::vector<Instance> shrinks(const Instance& instance);

// Edits of the proposals of an instance; `edit` receives the target beside each proposal.

/// Calls `edit(target, proposal)` for every proposal of the position.
template <class Edit>
void edit_proposals(Instance& instance, Edit edit) {
  for (auto& row : instance.proposals) edit(instance.target, row);
}

/// Calls `edit(target, proposal)` for every listed prefix of at least `depth` tokens.
template <class Edit>
void edit_proposals(PathInstance& instance, Edit edit, std::size_t depth = 0) {
  for (auto& [prefix, weights] : instance.rows)
    if (prefix.size() >= depth) edit(weights.target, weights.proposal);
}

// Conversion of an instance from fractions to doubles, for programs that run in double.

/// Returns the rows with every probability rounded to the nearest double.
inline Rows<double> as_doubles(const Rows<Rational>& rows) {
  const auto row = [&rows](auto probability) {
    std::vector<double> values;
    for (Token x = 0; x < rows.vocabulary(); ++x) values.push_back(static_cast<double>(probability(x)));
    return values;
  };
  std::vector<std::vector<double>> proposals;
  for (int k = 0; k < rows.proposals(); ++k)
    proposals.push_back(row([&](Token x) -> const Rational& { return rows.proposal(x, k); }));
  return {row([&](Token x) -> const Rational& { return rows.target(x); }), std::move(proposals)};
}

/// Returns the model with every probability rounded to the nearest double; the numbers of contexts do not change.
inline PrefixTable<Rows<double>> as_doubles(const PrefixTable<Rows<Rational>>& conditionals) {
  std::vector<Rows<double>> distributions;
  for (int context = 0; context < conditionals.size(); ++context)
    distributions.push_back(as_doubles(conditionals.distributions(context)));
  return PrefixTable<Rows<double>>(std::move(distributions));
}

}  // namespace draftproof
