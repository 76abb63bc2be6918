// The distribution of the set of drafted tokens, by enumeration, for any drafter. An optimum depends on this
// distribution only.
#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include <draftproof/sim/random/explorer.hpp>

namespace draftproof {

/// A set of tokens below 64, one bit per token.
using TokenSet = std::uint64_t;

/// Returns the set of the tokens in `drafts`.
inline TokenSet set_of(std::span<const Token> drafts) {
  TokenSet set = 0;
  for (const Token x : drafts) set |= TokenSet{1} << x;
  return set;
}

/// Returns the probability of every set that can be drafted. `draw` writes one tuple and returns its length.
/// Throws: EnumerationCut if there are more tuples than `limits` allows.
template <class Weight>
std::map<TokenSet, Weight> set_distribution(const std::function<int(Explorer<Weight>&, Token*)>& draw,
                                            ExplorerLimits limits = {}) {
  std::map<TokenSet, Weight> distribution;
  Explorer<Weight> explorer(limits);
  const bool whole =
      each_drafted_tuple(explorer, draw, [&distribution](std::span<const Token> tuple, const Weight& drawn) {
        distribution.try_emplace(set_of(tuple), 0).first->second += drawn;
      });
  if (!whole) throw EnumerationCut("too many draft tuples to enumerate");
  return distribution;
}

/// Returns the minimum over all sets S of p(S) + 1 - Pr(all drafts in S), which is the optimum of any draft sampling.
/// Enumerates all 2^V sets. Requires V <= 20.
template <class Weight>
Weight cut_optimum(std::span<const Weight> target, const std::map<TokenSet, Weight>& drafts) {
  const std::size_t vocabulary = target.size();
  std::vector<Weight> inside(std::size_t{1} << vocabulary, Weight(0));
  for (const auto& [set, probability] : drafts) inside[set] = probability;
  for (std::size_t x = 0; x < vocabulary; ++x)  // sums over subsets
    for (std::size_t set = 0; set < inside.size(); ++set)
      if (set >> x & 1) inside[set] += inside[set ^ (std::size_t{1} << x)];
  std::vector<Weight> mass(inside.size(), Weight(0));
  Weight best(1);  // the value of the empty set
  for (std::size_t set = 1; set < inside.size(); ++set) {
    mass[set] = mass[set & (set - 1)] + target[static_cast<std::size_t>(std::countr_zero(set))];
    const Weight value = mass[set] + (Weight(1) - inside[set]);
    if (value < best) best = value;
  }
  return best;
}

}  // namespace draftproof
