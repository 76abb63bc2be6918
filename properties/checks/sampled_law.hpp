// Losslessness by trials, for schemes that cannot be explored: the tokens of many trials on a small instance, as a
// bet against p.
#pragma once

#include <cmath>
#include <string>

#include <draftproof/properties/proof/property.hpp>
#include <draftproof/statistics/dirichlet_multinomial.hpp>

namespace draftproof::checks {

struct SampledLaw {
  static constexpr std::string_view name = "sampled_law";
  static constexpr std::string_view about =
      "schemes that cannot be explored: tokens of trials follow p, as an e-value";
  static constexpr int every = 8;
  static constexpr bool explores = false;
  static constexpr Tier tier = Tier::sampled;
  static constexpr int trials = 1 << 16;
  /// A build asks this and its cousin for paths of less than a million instances together, and spends half of its
  /// false-alarm probability of 1e-9 on them.
  static constexpr double alarm = 2e15;

  static bool applies(const AnyVerifier& verifier, const AnyDrafter&) {
    return !verifier.info().unsupported.explore.empty() && verifier.info().promise == Promise::lossless;
  }
  static Answer check(InstanceAnalysis& at) {
    std::vector<double> law;
    for (const Rational& p : normalised(at.instance().target)) law.push_back(static_cast<double>(p));
    std::vector<std::uint64_t> counts(law.size());
    for (const Verdict& verdict : at.trials(at.instance(), trials).verdicts) {
      if (verdict.token < 0) return Answer::violated("a branch of probability zero was reached");
      ++counts[static_cast<std::size_t>(verdict.token)];
    }
    const double log_e = log_e_multinomial(law, counts);
    return Answer::held_if(log_e < std::log(alarm), [&] {
      std::string text = "e = 10^" + std::to_string(static_cast<int>(log_e / std::log(10.0))) + ", seen";
      for (const auto count : counts) text += " " + std::to_string(count);
      return text + " of " + std::to_string(trials) + " trials, wanted in proportion to " +
             brief(normalised(at.instance().target));
    });
  }
};

}  // namespace draftproof::checks
