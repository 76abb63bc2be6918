// All sets of distinct tokens that can be drafted, with their probabilities: the draft sampling in the form that
// plans read. It is computed by enumerating the drafter, so that the draft sampling is defined in one place only.
//
//   A       sets[i]          distinct tokens of a tuple, ascending; sets in lexicographic order
//   Q(A)    probability[i]   positive probability that the drafts are exactly these tokens, in any order and number
//
// Cost: one branch per tuple, V^K for independent draws, so it is used for small V only.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include <draftproof/sim/random/explorer.hpp>

namespace draftproof {

template <class Scalar>
struct DraftSets {
  std::vector<std::vector<Token>> sets;
  std::vector<Scalar> probability;

  std::size_t size() const { return sets.size(); }

  /// Appends a set; sets must come in ascending order. A set with probability 0 in floating point is omitted.
  void add(std::vector<Token> set, Scalar chance) {
    if (!(chance > Scalar{0})) return;
    sets.push_back(std::move(set));
    probability.push_back(std::move(chance));
  }

  /// Index of the set of these drafts; size() if they cannot have been drafted.
  std::size_t of(const Token* drafts, int count) const {
    std::array<Token, max_drafts> set;
    std::copy_n(drafts, count, set.begin());
    std::sort(set.begin(), set.begin() + count);
    const auto end = std::unique(set.begin(), set.begin() + count);
    const auto before = [&](const std::vector<Token>& other, const auto&) {
      return std::lexicographical_compare(other.begin(), other.end(), set.begin(), end);
    };
    const auto found = std::lower_bound(sets.begin(), sets.end(), set, before);
    if (found == sets.end() || !std::equal(found->begin(), found->end(), set.begin(), end)) return size();
    return static_cast<std::size_t>(found - sets.begin());
  }
};

/// The sets that `Drafter` draws from these distributions. Throws: EnumerationCut if there are too many tuples.
template <class Drafter, class L>
DraftSets<typename L::Scalar> draft_sets(const L& distributions, int drafts) {
  using Scalar = typename L::Scalar;
  Explorer<Scalar> explorer;
  std::map<std::vector<Token>, Scalar> found;
  std::vector<Token> set;
  const bool complete = each_drafted_tuple(
      explorer,
      [&](Explorer<Scalar>& random, Token* out) { return Drafter{}.draw(distributions, drafts, random, out); },
      [&](std::span<const Token> tuple, const Scalar& drawn) {
        set.assign(tuple.begin(), tuple.end());
        std::sort(set.begin(), set.end());
        set.erase(std::unique(set.begin(), set.end()), set.end());
        found.try_emplace(set, 0).first->second += drawn;
      });
  if (!complete) throw EnumerationCut("too many draft tuples to enumerate: this plan is for small vocabularies");
  DraftSets<Scalar> distribution;
  for (auto& [tokens, chance] : found) distribution.add(tokens, std::move(chance));
  return distribution;
}

/// Returns the sets of independent draws, one from each row; rows need not sum to 1. Cost: rows x sets x tokens.
template <class Scalar>
DraftSets<Scalar> independent_sets(const std::vector<std::vector<Scalar>>& rows) {
  std::map<std::vector<Token>, Scalar> found{{{}, Scalar{1}}};
  for (const auto& row : rows) {
    std::map<std::vector<Token>, Scalar> longer;
    for (const auto& [set, chance] : found)
      for (std::size_t x = 0; x < row.size(); ++x) {
        if (!(row[x] > Scalar{0})) continue;
        std::vector<Token> joined = set;
        const auto place = std::lower_bound(joined.begin(), joined.end(), static_cast<Token>(x));
        if (place == joined.end() || *place != static_cast<Token>(x)) joined.insert(place, static_cast<Token>(x));
        longer.try_emplace(std::move(joined), 0).first->second += chance * row[x];
      }
    found = std::move(longer);
  }
  DraftSets<Scalar> distribution;
  for (auto& [tokens, chance] : found) distribution.add(tokens, std::move(chance));
  return distribution;
}

}  // namespace draftproof
