// Small random distributions from integer weights, for tests that need thousands of them. They have zeros in p and in
// q, ties, and single tokens with nearly all of a row.
#pragma once

#include <map>
#include <random>

#include <draftproof/optimum/exact/rational.hpp>
#include <draftproof/optimum/set_distribution.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/tests/support/exact.hpp>

namespace draftproof {

struct SmallDistributions {
  std::vector<Rational> target;
  std::vector<std::vector<Rational>> proposals;
  int drafts;

  Rows<Rational> rows() const { return {target, proposals}; }
  RatioTable table() const {
    std::vector<std::vector<double>> rows;
    for (const auto& q : proposals) rows.push_back(exact::as_doubles(q));
    return {exact::as_doubles(target), rows};
  }
  std::map<TokenSet, Rational> sets(const AnyDrafter& drafter) const {
    const auto distributions = rows();
    return set_distribution<Rational>(
        [&](Explorer<Rational>& random, Token* out) { return drafter.draw(distributions, drafts, random, out); });
  }
};

/// Returns the distributions of a table as fractions; the table stores masses in units of 2^-62.
inline SmallDistributions served(const RatioTable& table, int drafts) {
  SmallDistributions distributions{std::vector<Rational>(static_cast<std::size_t>(table.vocabulary())), {}, drafts};
  distributions.proposals.push_back(distributions.target);
  const auto prefix = table.exact_prefix();
  for (std::size_t j = 0; j < table.order().size(); ++j) {
    const auto x = static_cast<std::size_t>(table.order()[j]);
    distributions.target[x] = Rational(prefix[j + 1].target - prefix[j].target, row_total);
    distributions.proposals.front()[x] = Rational(prefix[j + 1].proposal - prefix[j].proposal, row_total);
  }
  return distributions;
}

class SmallDistributionsSource {
 public:
  explicit SmallDistributionsSource(std::uint64_t seed) : random_{seed} {}

  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }

  /// Returns distributions with V in 2 .. most_tokens and K in 1 .. most_drafts; one proposal, or K proposals.
  SmallDistributions next(int most_tokens, int most_drafts, bool several_proposals) {
    const int vocabulary = 2 + below(most_tokens - 1);
    SmallDistributions distributions{row(vocabulary), {}, 1 + below(most_drafts)};
    for (int k = 0; k < (several_proposals ? distributions.drafts : 1); ++k)
      distributions.proposals.push_back(row(vocabulary));
    return distributions;
  }

 private:
  std::vector<Rational> row(int vocabulary) {
    std::vector<int> weights;
    const int most = below(3) == 0 ? 2 : 12;  // a small range gives ties and zeros
    for (int x = 0; x < vocabulary; ++x) weights.push_back(below(4) == 0 ? 0 : below(most) + (most > 2));
    const auto any = static_cast<std::size_t>(below(vocabulary));
    weights[any] += 1;
    if (below(5) == 0) weights[any] = 1'000 * vocabulary;  // one token at 0.99
    if (below(25) == 0) weights[any] = 1'000'000'000;
    return normalised(weights);
  }

  std::mt19937_64 random_;
};

}  // namespace draftproof
