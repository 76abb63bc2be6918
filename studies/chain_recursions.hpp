// Accepted tokens of one path by closed recursions, for models whose laws depend at most on the last token: fractions
// at any length, without enumerating V^L paths.
//
//   s            state      the last token; one state for models without context
//   c            clipped    c() = 1, c(xy) = min(1, c(x) p(y|x) / q(y|x)); Pr[block accepts x | x was drafted] = c(x)
//   m_i(s, c)    mass       probability under q that i drafted tokens lead to s and c
//
//   E[tau] of block   sum over i = 1 .. L of the sum of m_i(s, c) c
//   E[tau] of token   sum over i of the sum over paths of the product of min(p, q)
//
// Cost: states times different values of c per step; ratios that are powers of each other share values.
// Source: Sun et al. 2025, arXiv:2403.10444, for a(x) = q(x) c(x); grouping by c is derived here and compared with
// enumerations of all branches by the study that uses it.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include <draftproof/exact/rational.hpp>

namespace draftproof {

/// Rows by state. The state after a token is the token, or 0 if there is only one state.
struct ChainModel {
  std::vector<std::vector<Rational>> target, proposal;

  std::size_t next(std::size_t token) const { return target.size() == 1 ? 0 : token; }
};

struct AcceptedByLength {
  std::vector<Rational> token, block;  ///< E[tau] for L = 1, 2, .., up to the longest
};

inline AcceptedByLength accepted_by_length(const ChainModel& model, int most) {
  std::map<std::pair<std::size_t, Rational>, Rational> clipped{{{0, 1}, 1}};  // (s, c) -> m
  std::map<std::size_t, Rational> kept{{0, 1}};                               // s -> mass accepted by token
  AcceptedByLength accepted;
  Rational token{0}, block{0};
  for (int i = 1; i <= most; ++i) {
    std::map<std::pair<std::size_t, Rational>, Rational> longer;
    for (const auto& [at, mass] : clipped)
      for (std::size_t y = 0; y < model.target[at.first].size(); ++y) {
        const Rational &p = model.target[at.first][y], &q = model.proposal[at.first][y];
        if (q == 0) continue;
        const Rational ratio = at.second * p / q;
        const Rational c = ratio < 1 ? ratio : Rational(1);
        // A product of zero stays zero.
        if (c == 0) continue;
        longer[{model.next(y), c}] += mass * q;
      }
    clipped = std::move(longer);
    for (const auto& [at, mass] : clipped) block += mass * at.second;
    std::map<std::size_t, Rational> after;
    for (const auto& [state, mass] : kept)
      for (std::size_t y = 0; y < model.target[state].size(); ++y) {
        const Rational &p = model.target[state][y], &q = model.proposal[state][y];
        after[model.next(y)] += mass * (p < q ? p : q);
      }
    kept = std::move(after);
    for (const auto& [state, mass] : kept) token += mass;
    accepted.token.push_back(token);
    accepted.block.push_back(block);
  }
  return accepted;
}

}  // namespace draftproof
