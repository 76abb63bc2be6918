// A small exact test case for paths: target and proposal after prefixes as integer weights, and the shape of the
// drafts. Prints and parses as "L=2 K=1 [] p=(1 2)/3 q=(2 1)/3 [0] p=(1 1)/2 q=(1 0)/1": after a prefix that is not
// listed the rows are those of the prefix one token shorter, so models without context list [] alone.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <draftproof/exact/rational.hpp>
#include <draftproof/sim/distributions/plain_rows.hpp>
#include <draftproof/sim/token.hpp>
#include <draftproof/sim/trees/conditional_model.hpp>

namespace draftproof {

// Prefixes: the tokens since an iteration began, as values to look things up by.

using Tokens = std::vector<Token>;

/// Shorter prefixes first, then by token ids from the left: the order in which a reader meets them.
struct ShorterFirst {
  bool operator()(const Tokens& a, const Tokens& b) const {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  }
};

/// "[0 2]".
inline std::string prefix_text(const Tokens& prefix) {
  std::string text = "[";
  for (const Token x : prefix) text += (text.size() > 1 ? " " : "") + std::to_string(x);
  return text + "]";
}

/// Target and proposal after one prefix, V weights each.
struct PrefixWeights {
  std::vector<int> target, proposal;
  bool operator==(const PrefixWeights&) const = default;
};

struct PathInstance {
  static constexpr int most_length = 32;
  static constexpr int most_prefixes = 20'000;  ///< V^0 + V^1 + .. up to the longest listed prefix

  TreeShape shape{};
  std::map<Tokens, PrefixWeights, ShorterFirst> rows;  ///< [] is among them

  int vocabulary() const { return static_cast<int>(rows.begin()->second.target.size()); }
  /// Tokens of the longest listed prefix; 0 for a model without context.
  int listed_length() const { return static_cast<int>(rows.rbegin()->first.size()); }
  /// Rows after `prefix`, listed or not.
  const PrefixWeights& after(Tokens prefix) const;
  PrefixTable<Rows<Rational>> conditionals() const;

  /// A shape that can be drafted, and rows of V weights after prefixes of at most L tokens, [] among them.
  bool valid() const;
  std::string text() const;
  /// Throws std::invalid_argument with what was found and wanted.
  static PathInstance parse(std::string_view text);

  bool operator==(const PathInstance&) const = default;
};

/// All rows, to be edited.
std::vector<std::vector<int>*> rows_of(PathInstance& instance);

/// One step shrinks, most drastic first: fewer drafts, shorter paths, no context, fewer listed prefixes, a token
/// dropped, two tokens merged, smaller weights. Valid instances only.
std::vector<PathInstance> shrinks(const PathInstance& instance);

}  // namespace draftproof
