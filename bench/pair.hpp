// The rows of benchmarks: softmax of Gaussian logits with a correlated draft. They are made at first use, so
// registering thousands of benchmarks takes no time.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <draftproof/captures/family.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/sim/distributions/plain_rows.hpp>
#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/sim/distributions/streamed_rows.hpp>

namespace draftproof::benchmarks {

inline constexpr int vocabularies[] = {4096, 32000, 128256};

/// Pairs (V, K) so small that linear programs and flows over draft tuples finish.
inline constexpr std::pair<int, int> small_sizes[] = {{6, 2}, {12, 2}, {12, 3}, {24, 2}};

/// One pair in the forms that simulators take.
struct Pair {
  RowPair rows;
  RatioTable table;
  Rows<double> plain;

  explicit Pair(RowPair pair)
      : rows{std::move(pair)}, table{rows.target, rows.proposals}, plain{rows.target, rows.proposals} {}
};

/// Returns a pair with target logits N(0, sigma^2) and draft logits = target logits + N(0, 1), of seed 7.
inline RowPair gaussian_pair(int vocabulary, const char* sigma) {
  registry();
  const std::string spec = std::string("gaussian_logits:sigma=") + sigma + ",noise=1,vocabulary=";
  return parse_family(spec + std::to_string(vocabulary)).pair(7, 0);
}

/// Returns the pair with sigma 2.5: one draft is accepted with probability 0.61 to 0.62 at the vocabulary sizes of the
/// benchmarks.
inline const Pair& pair_of(int vocabulary) {
  static std::map<int, std::unique_ptr<Pair>> pairs;
  auto& pair = pairs[vocabulary];
  if (!pair) pair = std::make_unique<Pair>(gaussian_pair(vocabulary, "2.5"));
  return *pair;
}

/// Returns the pair of pair_of with 0.99 of the mass of both rows moved to one token, which is not its most probable
/// token.
inline const Pair& peaked_pair_of(int vocabulary) {
  static std::map<int, std::unique_ptr<Pair>> pairs;
  auto& pair = pairs[vocabulary];
  if (!pair) {
    RowPair rows = pair_of(vocabulary).rows;
    const auto peak = [](std::vector<double>& row) {
      for (double& weight : row) weight *= 0.01;
      row[5] += 0.99;
    };
    peak(rows.target);
    for (auto& row : rows.proposals) peak(row);
    pair = std::make_unique<Pair>(std::move(rows));
  }
  return *pair;
}

/// Returns the pair with sigma 1.5, at which several tokens of a small vocabulary have a substantial probability.
inline const RowPair& small_pair_of(int vocabulary) {
  static std::map<int, RowPair> pairs;
  const auto [at, is_new] = pairs.try_emplace(vocabulary);
  if (is_new) at->second = gaussian_pair(vocabulary, "1.5");
  return at->second;
}

/// A pair as rows of floats.
struct FloatRows {
  std::vector<float> target, proposal;
  explicit FloatRows(const Pair& pair)
      : target(pair.rows.target.begin(), pair.rows.target.end()),
        proposal(pair.rows.proposals[0].begin(), pair.rows.proposals[0].end()) {}
  FreshRows<float> distributions() const { return {target, std::span<const float>(proposal)}; }
};

inline const FloatRows& rows_of(int vocabulary) {
  static std::map<int, std::unique_ptr<FloatRows>> all;
  auto& rows = all[vocabulary];
  if (!rows) rows = std::make_unique<FloatRows>(pair_of(vocabulary));
  return *rows;
}

}  // namespace draftproof::benchmarks
