// Rows of exact fractions whose bins are any sets of tokens; a ladder must be exact for every choice of bins.
#pragma once

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <draftproof/optimum/exact/rational.hpp>
#include <draftproof/sim/distributions/plain_rows.hpp>

namespace draftproof {

/// Rows whose tokens with q > 0 are assigned to buckets; buckets are ordered by their ratio p / q.
struct Bucketed : Rows<Rational> {
  struct Bins {
    static constexpr bool single_tokens = false;
    std::vector<int> bin;
    std::vector<Rational> target{0}, proposal{0};
    int size() const { return static_cast<int>(target.size()) - 1; }
    Rational target_below(int i) const { return target[static_cast<std::size_t>(i)]; }
    Rational proposal_below(int i) const { return proposal[static_cast<std::size_t>(i)]; }
    std::vector<Rational> ratios() const {
      std::vector<Rational> ratio;
      for (std::size_t i = 0; i + 1 < target.size(); ++i)
        ratio.push_back((target[i + 1] - target[i]) / (proposal[i + 1] - proposal[i]));
      return ratio;
    }
  };
  std::vector<int> bucket;

  Bins bins() const {
    std::map<int, std::pair<Rational, Rational>> mass;
    Bins bins;
    for (Token x = 0; x < vocabulary(); ++x) {
      if (proposal(x) == 0) {
        bins.target[0] += target(x);
        continue;
      }
      auto& [p, q] = mass[bucket[static_cast<std::size_t>(x)]];
      p += target(x);
      q += proposal(x);
    }
    std::vector<int> order;
    for (const auto& [name, masses] : mass) order.push_back(name);
    std::sort(order.begin(), order.end(),
              [&mass](int a, int b) { return mass[a].first * mass[b].second > mass[b].first * mass[a].second; });
    bins.bin.resize(bucket.size());
    for (const int name : order) {
      for (std::size_t x = 0; x < bucket.size(); ++x)
        if (bucket[x] == name) bins.bin[x] = bins.size();
      bins.target.push_back(bins.target.back() + mass[name].first);
      bins.proposal.push_back(bins.proposal.back() + mass[name].second);
    }
    return bins;
  }
  int bin(const Bins& bins, Token x) const { return bins.bin[static_cast<std::size_t>(x)]; }
};

}  // namespace draftproof
