// The place of a token when tokens are ordered by q, most probable first, equals by id: what laws.top counts from the
// other side. For closed forms of draft laws; it looks at all tokens.
#pragma once

#include <draftproof/sim/token.hpp>

namespace draftproof {

/// Number of tokens before x.
template <class L>
int rank_of(const L& laws, Token x) {
  int before = 0;
  for (Token y = 0; y < laws.vocabulary(); ++y)
    before += laws.proposal(y) > laws.proposal(x) || (laws.proposal(y) == laws.proposal(x) && y < x);
  return before;
}

}  // namespace draftproof
