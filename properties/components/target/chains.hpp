// Every chain of drafts up to a length, shorter ones first: the prefixes for which a source of target rows is
// checked.
//
// Cost: V^L chains. With this order the first violation has the shortest prefix.
#pragma once

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/properties/components/target/wanted_row.hpp>

namespace draftproof {

/// All chains of at most `longest` tokens, beginning with the empty chain.
inline std::vector<std::vector<Token>> chains(int vocabulary, int longest) {
  std::vector<std::vector<Token>> all{{}};
  for (std::size_t n = 0; n < all.size(); ++n) {
    if (static_cast<int>(all[n].size()) == longest) continue;
    for (Token x = 0; x < vocabulary; ++x) {
      std::vector<Token> longer = all[n];
      longer.push_back(x);
      all.push_back(std::move(longer));
    }
  }
  return all;
}

}  // namespace draftproof
