// Every chain of drafts up to a length, shorter ones first: the prefixes a source of target rows is asked for.
//
// Cost: V^L chains. The order makes the first complaint the shortest.
#pragma once

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/properties/components/target/wanted_row.hpp>

namespace draftproof {

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
