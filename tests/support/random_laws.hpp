// Small random laws as integer weights, for tests that need thousands: zeros in p and in q, ties, one token with
// nearly all of q, one with nearly nothing.
#pragma once

#include <map>
#include <random>

#include <draftproof/optimum/exact/rational.hpp>
#include <draftproof/optimum/set_law.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/tests/support/exact.hpp>

namespace draftproof {

struct SmallLaws {
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
    const auto laws = rows();
    return set_law<Rational>(
        [&](Explorer<Rational>& random, Token* out) { return drafter.draw(laws, drafts, random, out); });
  }
};

/// The laws of a table, as fractions: masses of its tokens in units of 2^-62.
inline SmallLaws served(const RatioTable& table, int drafts) {
  SmallLaws laws{std::vector<Rational>(static_cast<std::size_t>(table.vocabulary())), {}, drafts};
  laws.proposals.push_back(laws.target);
  const auto prefix = table.exact_prefix();
  for (std::size_t j = 0; j < table.order().size(); ++j) {
    const auto x = static_cast<std::size_t>(table.order()[j]);
    laws.target[x] = Rational(prefix[j + 1].target - prefix[j].target, row_total);
    laws.proposals.front()[x] = Rational(prefix[j + 1].proposal - prefix[j].proposal, row_total);
  }
  return laws;
}

class SmallLawsSource {
 public:
  explicit SmallLawsSource(std::uint64_t seed) : random_{seed} {}

  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }

  /// V in 2 .. most_tokens, K in 1 .. most_drafts; one proposal, or K of them.
  SmallLaws next(int most_tokens, int most_drafts, bool several_proposals) {
    const int vocabulary = 2 + below(most_tokens - 1);
    SmallLaws laws{row(vocabulary), {}, 1 + below(most_drafts)};
    for (int k = 0; k < (several_proposals ? laws.drafts : 1); ++k) laws.proposals.push_back(row(vocabulary));
    return laws;
  }

 private:
  std::vector<Rational> row(int vocabulary) {
    std::vector<int> weights;
    const int most = below(3) == 0 ? 2 : 12;  // few values give ties and zeros
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
