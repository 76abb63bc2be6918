// A small exact test case for paths: target and proposal after prefixes as integer weights, and the shape of
// the drafts. It prints and parses as "L=2 K=1 [] p=(1 2)/3 q=(2 1)/3 [0] p=(1 1)/2 q=(1 0)/1". A prefix that
// is not listed has the rows of the prefix without its last token, so models without context list only []. Rows
// may have a confidence, "[] p=(1 2)/3 q=(2 1)/3 c=5".
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <draftproof/optimum/exact/rational.hpp>
#include <draftproof/sim/distributions/plain_rows.hpp>
#include <draftproof/sim/token.hpp>
#include <draftproof/sim/trees/conditional_model.hpp>

namespace draftproof {

// A prefix is the list of tokens since the start of an iteration; prefixes are map keys.

using Tokens = std::vector<Token>;

/// Orders prefixes by length and then by token ids from the left.
struct ShorterFirst {
  bool operator()(const Tokens& a, const Tokens& b) const {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  }
};

/// Returns the prefix as "[0 2]".
inline std::string prefix_text(const Tokens& prefix) {
  std::string text = "[";
  for (const Token x : prefix) text += (text.size() > 1 ? " " : "") + std::to_string(x);
  return text + "]";
}

/// Returns the prefixes of at most `length` tokens, shorter first, then by token ids from the left: the order of the
/// contexts of a PrefixTable.
std::vector<Tokens> prefixes_up_to(int vocabulary, int length);
/// Returns the number of prefixes of at most `length` tokens, or, if it is above PathInstance::most_prefixes, some
/// number above this limit.
int prefix_count(int vocabulary, int length);

/// Target and proposal after one prefix, V weights each.
struct PrefixWeights {
  std::vector<int> target, proposal;
  /// Confidence of the drafter after the prefix, in tenths; negative: none. Selection policies read it,
  /// verifiers do not.
  int confidence = -1;
  bool operator==(const PrefixWeights&) const = default;
};

struct PathInstance {
  static constexpr int most_length = 32;
  static constexpr int most_nodes = 64;
  static constexpr int most_prefixes = 20'000;  ///< limit on 1 + V + V^2 + .. + V^listed_length()

  TreeShape shape{};
  std::map<Tokens, PrefixWeights, ShorterFirst> rows;  ///< rows after the listed prefixes, among them the empty []

  int vocabulary() const { return static_cast<int>(rows.begin()->second.target.size()); }
  /// Returns the number of tokens of the longest listed prefix; 0 for a model without context.
  int listed_length() const { return static_cast<int>(rows.rbegin()->first.size()); }
  /// Returns the rows after `prefix`; if it is not listed, the rows of its longest listed prefix.
  const PrefixWeights& after(Tokens prefix) const;
  /// Returns the model in fractions.
  PrefixTable<Rows<Rational>> conditionals() const;

  /// Whether the shape is valid, [] is listed, all listed prefixes have at most L tokens, and all rows have V weights.
  bool valid() const;
  std::string text() const;
  /// The inverse of text(). Throws: std::invalid_argument, which names the text and the expected format.
  static PathInstance parse(std::string_view text);

  bool operator==(const PathInstance&) const = default;
};

/// Returns pointers to all rows, for editing.
std::vector<std::vector<int>*> rows_of(PathInstance& instance);

/// Returns the valid instances that are one step smaller, most drastic first: fewer drafts, shorter paths, no
/// context, fewer listed prefixes, a token dropped, two tokens merged, smaller weights.
std::vector<PathInstance> shrinks(const PathInstance& instance);

}  // namespace draftproof
