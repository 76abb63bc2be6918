// The likeliest tokens of a law, for those who draft without chance.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include <draftproof/sim/token.hpp>

namespace draftproof {

/// At most max_drafts of the tokens 0 .. vocabulary - 1, by falling `probability(x)`, equal ones by id.
template <class Probability>
std::vector<Token> top_tokens(int vocabulary, Probability probability) {
  std::vector<Token> tokens(static_cast<std::size_t>(vocabulary));
  std::iota(tokens.begin(), tokens.end(), Token{0});
  const auto middle = tokens.begin() + std::min<std::ptrdiff_t>(max_drafts, std::ssize(tokens));
  std::partial_sort(tokens.begin(), middle, tokens.end(), [&probability](Token a, Token b) {
    return probability(a) > probability(b) || (probability(a) == probability(b) && a < b);
  });
  tokens.erase(middle, tokens.end());
  tokens.shrink_to_fit();
  return tokens;
}

}  // namespace draftproof
