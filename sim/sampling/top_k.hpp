// The first tokens of an order, for those who need few of them: the likeliest of a law, the best of a plan.
//
//   key(x)         what the order looks at first: before(x, y) only if key(x) >= key(y)
//   before(x, y)   the order, strict
//   counts(x)      whether x takes part
//
// Cost: one pass. Most strips of tokens are turned away by their keys (wide/some.hpp); what was found so far is kept
// in a heap, so that asking for all tokens is a sort.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <vector>

#include <draftproof/sim/simd/strips.hpp>
#include <draftproof/sim/token.hpp>

namespace draftproof {

// The place of a token when tokens are ordered by q, most probable first, equals by id: what laws.top counts from the
// other side. For closed forms of draft laws; it looks at all tokens.

/// Number of tokens before x.
template <class L>
int probability_rank(const L& laws, Token x) {
  int before = 0;
  for (Token y = 0; y < laws.vocabulary(); ++y)
    before += laws.proposal(y) > laws.proposal(x) || (laws.proposal(y) == laws.proposal(x) && y < x);
  return before;
}

/// At most `most` of the tokens 0 .. vocabulary - 1.
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

/// At most max_drafts of the tokens 0 .. vocabulary - 1, by falling `probability(x)`, equal ones by id.
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
