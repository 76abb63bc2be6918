// Rows in fractions whose rungs are buckets of any shape: what a ladder must stay exact on.
#pragma once

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <draftproof/exact/rational.hpp>
#include <draftproof/sim/distributions/plain_rows.hpp>

namespace draftproof {

/// Rows whose tokens with q > 0 are dealt into buckets at random; buckets ordered by their ratio.
struct Bucketed : Rows<Rational> {
  struct Rungs {
    static constexpr bool single_tokens = false;
    std::vector<int> rung;
    std::vector<Rational> target{0}, proposal{0};
    int size() const { return static_cast<int>(target.size()) - 1; }
    Rational target_below(int i) const { return target[static_cast<std::size_t>(i)]; }
    Rational proposal_below(int i) const { return proposal[static_cast<std::size_t>(i)]; }
  };
  std::vector<int> bucket;

  Rungs rungs() const {
    std::map<int, std::pair<Rational, Rational>> mass;
    Rungs rungs;
    for (Token x = 0; x < vocabulary(); ++x) {
      if (proposal(x) == 0) {
        rungs.target[0] += target(x);
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
    rungs.rung.resize(bucket.size());
    for (const int name : order) {
      for (std::size_t x = 0; x < bucket.size(); ++x)
        if (bucket[x] == name) rungs.rung[x] = rungs.size();
      rungs.target.push_back(rungs.target.back() + mass[name].first);
      rungs.proposal.push_back(rungs.proposal.back() + mass[name].second);
    }
    return rungs;
  }
  int rung(const Rungs& rungs, Token x) const { return rungs.rung[static_cast<std::size_t>(x)]; }
};

}  // namespace draftproof
