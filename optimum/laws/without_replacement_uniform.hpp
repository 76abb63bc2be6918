// The optimum for drafts without replacement that continue uniformly if q runs out. Up to n = |support of q| drafts
// the law is the one that ends early. With more, the set is the support and K - n of the Z other tokens, all choices
// equally likely. A cut must contain the support, and among sets with s other tokens the least cut has the s least
// probable, so
//
//   alpha* = min over s of p(support) + (the s smallest p outside) + 1 - C(s, K - n) / C(Z, K - n)
#pragma once

#include <algorithm>

#include <draftproof/optimum/exponential_clocks.hpp>
#include <draftproof/optimum/law_optimum.hpp>
#include <draftproof/sim/drafters/without_replacement_uniform.hpp>

namespace draftproof::optima {

struct WithoutReplacementUniform {
  using Drafter = drafters::WithoutReplacementUniform;

  static std::optional<OptimumBounds> find(const RatioTable& table, int drafts) {
    double inside = 0;
    int support = 0;
    std::vector<double> outside;
    for (Token x = 0; x < table.vocabulary(); ++x) {
      if (table.proposal(x) > 0) {
        inside += table.target(x);
        ++support;
      } else {
        outside.push_back(table.target(x));
      }
    }
    double value = 1;
    if (drafts <= support) {
      value = without_replacement_optimum(table, drafts).acceptance;
    } else {
      std::sort(outside.begin(), outside.end());
      for (std::size_t s = 0; s <= outside.size(); ++s) {
        value = std::min(value, inside + (1 - all_within(s, outside.size(), drafts - support)));
        if (s < outside.size()) inside += outside[s];
      }
    }
    return OptimumBounds{value, value};
  }

 private:
  /// C(s, draws) / C(total, draws).
  static double all_within(std::size_t s, std::size_t total, int draws) {
    double probability = 1;
    for (std::size_t i = 0; i < static_cast<std::size_t>(draws); ++i) {
      if (s <= i) return 0;
      probability *= static_cast<double>(s - i) / static_cast<double>(total - i);
    }
    return probability;
  }
};

}  // namespace draftproof::optima
