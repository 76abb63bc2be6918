// Losslessness of paths by trials, for schemes that cannot be explored: whenever a step goes beyond a prefix, the
// next token is a draw from the target after it. One bet a prefix, averaged with weights that were fixed before
// the trials: p(prefix) / (L + 1), which sum to 1 over all prefixes of at most L tokens.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include <draftproof/properties/paths/path_analysis.hpp>
#include <draftproof/statistics/dirichlet_multinomial.hpp>

namespace draftproof::checks::paths {

struct SampledPrefixLaw {
  static constexpr std::string_view name = "sampled_prefix_law";
  static constexpr std::string_view about =
      "schemes that cannot be explored: after every prefix the next token follows p, as an e-value";
  static constexpr int every = 8;
  static constexpr bool explores = false;
  static constexpr Tier tier = Tier::sampled;
  static constexpr int trials = 1 << 15;
  static constexpr double alarm = 2e15;  ///< as in properties/checks/sampled_law.hpp

  static bool applies(const AnyPathVerifier& verifier, const AnyTreeDrafter&) {
    return !verifier.info().unsupported.explore.empty() && verifier.info().promise == Promise::lossless &&
           verifier.info().unsupported.simulate.empty() && !verifier.stateful();
  }
  static Answer check(PathInstanceAnalysis& at) {
    std::map<Tokens, std::vector<std::uint64_t>> counts;
    const auto vocabulary = static_cast<std::size_t>(at.instance().vocabulary());
    for (const PathTrial& trial : at.trials(at.instance(), trials))
      for (auto token = trial.emitted.begin(); token != trial.emitted.end(); ++token) {
        if (*token < 0) return Answer::violated("a branch of probability zero was reached");
        auto& here = counts[Tokens(trial.emitted.begin(), token)];
        here.resize(vocabulary);
        ++here[static_cast<std::size_t>(*token)];
      }
    std::vector<double> bets, weights;
    double unseen = 1;
    const std::pair<const Tokens, std::vector<std::uint64_t>>* worst = nullptr;
    for (const auto& entry : counts) {
      bets.push_back(log_e_multinomial(law_after(at, entry.first), entry.second));
      weights.push_back(chance(at, entry.first) / (at.instance().shape.length + 1));
      unseen -= weights.back();
      if (!worst || bets.back() > *std::max_element(bets.begin(), bets.end() - 1)) worst = &entry;
    }
    // A prefix that no step went beyond has e = 1.
    bets.push_back(0);
    weights.push_back(std::max(unseen, 0.0));
    const double log_e = log_weighted_mean_exp(bets, weights);
    return Answer::held_if(log_e < std::log(alarm), [&] {
      std::string text = "e = 10^" + std::to_string(static_cast<int>(log_e / std::log(10.0))) + ", after " +
                         prefix_text(worst->first) + " seen";
      for (const auto count : worst->second) text += " " + std::to_string(count);
      return text + ", wanted in proportion to " + brief(normalised(at.instance().after(worst->first).target));
    });
  }

 private:
  /// Probability of `prefix` under the target.
  static double chance(const PathInstanceAnalysis& at, const Tokens& prefix) {
    double product = 1;
    for (auto token = prefix.begin(); token != prefix.end(); ++token)
      product *= law_after(at, Tokens(prefix.begin(), token))[static_cast<std::size_t>(*token)];
    return product;
  }
  static std::vector<double> law_after(const PathInstanceAnalysis& at, const Tokens& prefix) {
    std::vector<double> law;
    for (const Rational& p : normalised(at.instance().after(prefix).target)) law.push_back(static_cast<double>(p));
    return law;
  }
};

}  // namespace draftproof::checks::paths
