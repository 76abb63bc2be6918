// The distributions benchmarks run on: softmax of Gaussian logits with a correlated draft, made once per
// vocabulary.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <draftproof/captures/family.hpp>
#include <draftproof/properties/registry.hpp>
#include <draftproof/sim/ratio_table.hpp>
#include <draftproof/sim/rows.hpp>

namespace draftproof::benchmarks {

inline constexpr int vocabularies[] = {4096, 32000, 128256};

/// One pair in the forms the interpreters want.
struct Pair {
  RowPair rows;
  RatioTable table;
  Rows<double> plain;

  explicit Pair(RowPair pair)
      : rows{std::move(pair)}, table{rows.target, rows.proposals}, plain{rows.target, rows.proposals} {}
};

/// Target logits N(0, 2.5^2), draft logits = target logits + N(0, 1); seed 7.
inline const Pair& pair_of(int vocabulary) {
  static std::map<int, std::unique_ptr<Pair>> pairs;
  auto& pair = pairs[vocabulary];
  if (!pair) {
    registry();
    const Family family = parse_family("gaussian_logits:sigma=2.5,noise=1,vocabulary=" + std::to_string(vocabulary));
    pair = std::make_unique<Pair>(family.pair(7, 0));
  }
  return *pair;
}

/// The same under one token that has .99 of both rows, which it is not the greatest of otherwise.
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

}  // namespace draftproof::benchmarks
