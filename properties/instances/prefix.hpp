// Prefixes: the tokens since an iteration began, as values to look things up by.
#pragma once

#include <string>
#include <vector>

#include <draftproof/sim/token.hpp>

namespace draftproof {

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

}  // namespace draftproof
