// The first tokens of an order, where few of them are needed: the most probable tokens of a law, the best of a plan.
//
//   key(x)         leading key of the order: before(x, y) only if key(x) >= key(y)
//   before(x, y)   the order, strict
//   counts(x)      whether x takes part
//
// Cost: one pass. Most strips of tokens are rejected by their keys (simd/strips.hpp). The tokens found so far form a
// heap, so finding all tokens is a sort.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <vector>

#include <draftproof/sim/simd/strips.hpp>
#include <draftproof/sim/token.hpp>

namespace draftproof {

// The inverse of laws.kth_most_probable(j): the rank of a token by q, most probable first, equals by id. For closed
// forms of draft laws. It asks the laws for their order, because the q of a table is rounded.

/// Number of tokens before x, at most max_drafts.
template <class L>
int probability_rank(const L& laws, Token x) {
  const int most = std::min(laws.vocabulary(), max_drafts);
  for (int before = 0; before < most; ++before)
    if (laws.kth_most_probable(before) == x) return before;
  return max_drafts;
}

/// The first tokens of the order among 0 .. vocabulary - 1, in order, at most `most` of them.
template <class Key, class Before, class Counts>
std::vector<Token> first_tokens(int vocabulary, std::size_t most, const Key& key, const Before& before,
                                const Counts& counts) {
  constexpr auto strip = static_cast<int>(simd::strip);
  std::vector<Token> found;  // a heap with the last of them in front
  if (most == 0) return found;
  for (Token x = 0; x < vocabulary; ++x) {
    const bool full = found.size() == most;
    if constexpr (std::is_floating_point_v<std::remove_cvref_t<decltype(key(x))>>)
      if (full && x % strip == 0 && x + strip <= vocabulary) {
        const auto least = key(found.front());
        if (!simd::some([&key, least](Token y) { return key(y) >= least; }, x)) {
          x += strip - 1;
          continue;
        }
      }
    if ((full && !before(x, found.front())) || !counts(x)) continue;
    if (full) {
      std::pop_heap(found.begin(), found.end(), before);
      found.pop_back();
    }
    found.push_back(x);
    std::push_heap(found.begin(), found.end(), before);
  }
  std::sort_heap(found.begin(), found.end(), before);
  return found;
}

/// The most probable of the tokens 0 .. vocabulary - 1, at most max_drafts, by falling `probability(x)`, equals by
/// id.
template <class Probability>
std::vector<Token> top_tokens(int vocabulary, const Probability& probability) {
  return first_tokens(
      vocabulary, max_drafts, probability,
      [&probability](Token a, Token b) {
        return probability(a) > probability(b) || (probability(a) == probability(b) && a < b);
      },
      [](Token) { return true; });
}

}  // namespace draftproof
