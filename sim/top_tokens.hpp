// The first tokens of an order, for those who need few of them: the likeliest of a law, the best of a plan.
//
// Cost: one pass. Nearly every token is turned away by one comparison with the last of those found so far; they are
// kept in a heap, so that asking for all tokens is a sort.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <draftproof/sim/token.hpp>

namespace draftproof {

/// At most `most` of the tokens 0 .. vocabulary - 1 that count(x), in the strict order before(x, y).
template <class Before, class Counts>
std::vector<Token> first_tokens(int vocabulary, std::size_t most, const Before& before, const Counts& counts) {
  std::vector<Token> found;  // a heap with the last of them in front
  if (most == 0) return found;
  for (Token x = 0; x < vocabulary; ++x) {
    const bool full = found.size() == most;
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
std::vector<Token> top_tokens(int vocabulary, Probability probability) {
  return first_tokens(
      vocabulary, max_drafts,
      [&probability](Token a, Token b) {
        return probability(a) > probability(b) || (probability(a) == probability(b) && a < b);
      },
      [](Token) { return true; });
}

}  // namespace draftproof
