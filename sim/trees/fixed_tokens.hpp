// The fixed children of a node of a hybrid tree: the most probable tokens of q. The draws of further children of the
// node exclude these tokens.
#pragma once

#include <algorithm>

#include <draftproof/sim/token.hpp>

namespace draftproof {

/// The `wanted` most probable tokens of q, in that order, without tokens of probability 0. Equally probable tokens are
/// ordered by their ids.
struct FixedTokens {
  Token tokens[max_drafts];
  int count = 0;

  template <class L>
  FixedTokens(const L& distributions, int wanted) {
    for (wanted = std::min({wanted, max_drafts, distributions.vocabulary()}); count < wanted; ++count) {
      tokens[count] = distributions.kth_most_probable(count);
      if (!(distributions.proposal(tokens[count]) > distributions.zero())) break;
    }
  }

  bool contains(Token x) const { return std::find(tokens, tokens + count, x) != tokens + count; }
};

}  // namespace draftproof
