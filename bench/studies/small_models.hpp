// Small models of paths that can be enumerated, and the accepted tokens of one path by closed recursions, for models
// whose distributions depend at most on the last token. The recursions give fractions at any length without enumerating
// V^L paths.
//   p, q         target, proposal   integer weights, normalised in fractions or in doubles
//   s            state      the last token; one state for models without context
//   c            clipped    c() = 1, c(xy) = min(1, c(x) p(y|x) / q(y|x)); Pr[block accepts x | x was drafted] = c(x)
//   m_i(s, c)    mass       probability under q that i drafted tokens lead to s and c
//
//   E[tau] of block   sum over i = 1 .. L of the sum of m_i(s, c) c
//   E[tau] of token   sum over i of the sum over paths of the product of min(p, q)
//
// Cost: per step, the number of states times the number of different values of c; there are few if ratios are powers of
// each other.
// Source: Sun et al. 2025, arXiv:2403.10444, for the formula of block's acceptance; grouping by c is derived here and
// compared with enumerations of all branches by the study that uses it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <draftproof/optimum/exact/rational.hpp>
#include <draftproof/properties/instances/generator.hpp>
#include <draftproof/properties/instances/instance_text.hpp>
#include <draftproof/properties/paths/step_distribution.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/sim/distributions/plain_rows.hpp>
#include <draftproof/sim/trees/conditional_model.hpp>

namespace draftproof {

template <class Weight>
using PathModel = PrefixTable<Rows<Weight>>;

/// Returns a model with the given pairs at its prefixes, shorter prefixes first; a single pair applies to all prefixes.
template <class Weight>
PathModel<Weight> path_model(const std::vector<WeightPair>& pairs) {
  const auto row = [](const std::vector<int>& weights) {
    std::vector<Weight> distribution;
    for (const Rational& probability : normalised(weights)) distribution.push_back(static_cast<Weight>(probability));
    return distribution;
  };
  std::vector<Rows<Weight>> rows;
  for (const WeightPair& pair : pairs) rows.emplace_back(row(pair.target), row(pair.proposal));
  return PathModel<Weight>(std::move(rows));
}

/// Returns random weights of 0 to 5, with zeros and ties, at every prefix of up to `length` tokens.
inline std::vector<WeightPair> random_path_weights(std::uint64_t seed, std::uint64_t instance, int vocabulary,
                                                   int length) {
  InstanceRng dice(seed, instance);
  const auto weights = [&] {
    std::vector<int> row(static_cast<std::size_t>(vocabulary));
    int total = 0;
    while (total == 0)
      for (int& weight : row) total += weight = dice.between(0, 5);
    return row;
  };
  std::vector<WeightPair> pairs;
  for (int level = 0, width = 1; level <= length; ++level, width *= vocabulary)
    for (int c = 0; c < width; ++c) {
      auto target = weights();
      pairs.push_back({std::move(target), weights()});
    }
  return pairs;
}

/// Returns E[tau] of a scheme on i.i.d. paths by enumerating all drafts and branches, in the arithmetic of the model;
/// nullopt if the scheme does not support that arithmetic, -1 if the enumeration is not complete.
template <class Weight>
std::optional<Weight> enumerated_mean(const AnyPathVerifier& scheme, const PathModel<Weight>& model,
                                      const TreeShape& shape) {
  constexpr bool exact = std::is_same_v<Weight, Rational>;
  const auto decider = [&] {
    if constexpr (exact)
      return scheme.prove_on(model, shape);
    else
      return scheme.explore_on(model, shape);
  }();
  if (!decider) return std::nullopt;
  const auto distribution =
      explore_step_distribution<Rows<Weight>>(*path_registry().drafter("iid_paths"), *decider, model, shape);
  return distribution.complete && (!exact || distribution.mass == 1) ? distribution.mean_accepted() : Weight(-1);
}

/// Rows by state. The state after a token is the token, or 0 if there is only one state.
struct ChainModel {
  std::vector<std::vector<Rational>> target, proposal;

  std::size_t next(std::size_t token) const { return target.size() == 1 ? 0 : token; }

  /// Returns the same model as rows by prefix, from state 0.
  PathModel<Rational> unrolled(int length) const {
    std::vector<Rows<Rational>> rows;
    std::vector<std::size_t> level{0};
    for (int depth = 0; depth <= length; ++depth) {
      std::vector<std::size_t> below;
      for (const std::size_t state : level) {
        rows.emplace_back(target[state], proposal[state]);
        for (std::size_t y = 0; y < target[state].size(); ++y) below.push_back(next(y));
      }
      level = std::move(below);
    }
    return PathModel<Rational>(std::move(rows));
  }
};

struct AcceptedByLength {
  std::vector<Rational> token, block;  ///< E[tau] for L = 1, 2, .., up to the longest
};

inline AcceptedByLength accepted_by_length(const ChainModel& model, int most) {
  std::map<std::pair<std::size_t, Rational>, Rational> clipped{{{0, 1}, 1}};  // m by (s, c)
  std::map<std::size_t, Rational> kept{{0, 1}};                               // accepted by token verification, by s
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
        // c is zero for every continuation, so nothing is added.
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
