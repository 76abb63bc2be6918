// A small exact test case: target and proposals as integer weights, and a number of drafts. It prints and parses as
// "p=(1 2 1)/4 q=(3 1 1)/5 K=2", so that a reader can check and replay a counterexample. Below: edits of the
// proposals, the last step of shrinking, and the rows in double, for instances of either level.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
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

// The proposals of an instance of either level, edited against their targets.

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

// The last step of shrinking. Greedy descent lowers one weight at a time and can end at large weights; an enumeration
// of all instances of the same shape with the smallest weights often finds a readable one.

/// An instance with weights up to this is readable and is left as it is.
inline constexpr int legible_weight = 5;

/// All valid instances of the shape of `origin` with weights of at most 2, or at most 1 if those would be more than
/// `limit`, sorted by total weight. Empty if the weights of `origin` are readable, or if even 1 gives too many.
template <class Instance>
std::vector<Instance> of_small_weights(const Instance& origin, std::size_t limit = 1000) {
  Instance copy = origin;
  std::vector<int*> cells;
  int heaviest = 0;
  for (auto* row : rows_of(copy))
    for (int& weight : *row) {
      heaviest = std::max(heaviest, weight);
      cells.push_back(&weight);
    }
  if (heaviest <= legible_weight) return {};
  const auto count = [&cells](std::size_t base) {
    std::size_t total = 1;
    for (std::size_t i = 0; i < cells.size() && total <= 1'000'000; ++i) total *= base;
    return total;
  };
  const int most = count(3) <= limit ? 2 : 1;
  if (count(static_cast<std::size_t>(most) + 1) > limit) return {};
  for (int* cell : cells) *cell = 0;
  std::vector<std::pair<int, Instance>> found;
  for (std::size_t i = 0; i < cells.size();) {
    if (copy.valid())
      found.emplace_back(
          std::accumulate(cells.begin(), cells.end(), 0, [](int sum, const int* w) { return sum + *w; }), copy);
    for (i = 0; i < cells.size() && ++*cells[i] > most; ++i) *cells[i] = 0;
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Instance> instances;
  for (auto& [weight, instance] : found) instances.push_back(std::move(instance));
  return instances;
}

// Fractions rounded to doubles, row by row, for programs that run in double on an instance given in fractions.

/// The laws with every probability rounded to the nearest double.
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

/// The same for every context; contexts keep their numbers.
inline PrefixTable<Rows<double>> as_doubles(const PrefixTable<Rows<Rational>>& conditionals) {
  std::vector<Rows<double>> laws;
  for (int context = 0; context < conditionals.size(); ++context)
    laws.push_back(as_doubles(conditionals.laws(context)));
  return PrefixTable<Rows<double>>(std::move(laws));
}

}  // namespace draftproof
