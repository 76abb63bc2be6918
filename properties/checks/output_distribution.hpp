// Properties of the output distribution and of the drafts.
#pragma once

#include <cmath>
#include <map>
#include <string>

#include <draftproof/properties/instances/path_instance.hpp>
#include <draftproof/properties/proof/property.hpp>
#include <draftproof/properties/scripted/scripted_decision.hpp>
#include <draftproof/properties/statistics/count_models.hpp>

namespace draftproof::checks {

// Losslessness: the distribution of the emitted token equals the target, as fractions. Schemes that are lossy
// by design are checked too: the evidence of their failure states their distribution and its distance from p.
struct ExactDistribution {
  static constexpr std::string_view name = "exact_distribution";
  static constexpr std::string_view about = "the output distribution equals p, with == on fractions";
  static constexpr int every = 1;

  static bool applies(const AnyVerifier& verifier, const AnyDrafter&) {
    return verifier.info().promise != Promise::lossless_up_to;
  }
  static Answer check(InstanceAnalysis& at) {
    const auto& distribution = at.distribution();
    if (!distribution.complete)
      return Answer::undecided("more than " + std::to_string(at.limits().leaves) + " branches");
    const auto target = normalised(at.instance().target);
    return Answer::passed_if(distribution.mass == 1 && distribution.output == target, [&] {
      return "got " + brief(distribution.output) + ", expected " + brief(target) + ", TV " +
             brief(total_variation(distribution.output, target));
    });
  }
};

// No trial emits a token with p = 0 or ends without a token, and an accepted draft is the emitted token: one
// exception proves a defect.
//
// Seeded trials on plain rows and on the prepared table, if the scheme supports it. Deterministic: the trials
// do not depend on other properties.
struct ZeroSupport {
  static constexpr std::string_view name = "zero_support";
  static constexpr std::string_view about =
      "every trial emits a token with p > 0, and an accepted draft is that token";
  static constexpr int every = 2;
  static constexpr bool explores = false;
  static constexpr Tier tier = Tier::edge;
  static constexpr int trials = 32;

  static bool applies(const AnyVerifier&, const AnyDrafter&) { return true; }
  static Answer check(InstanceAnalysis& at) {
    const Rows<double> rows = double_distributions(at.instance());
    if (auto wrong = first_fault(at, rows, at.trials(at.instance(), trials))) return Answer::failed(*wrong);
    if (!at.verifier().info().unsupported.simulate.empty()) return Answer::passed();
    const RatioTable table = table_of(rows);
    Trials tabulated(trials, at.instance().drafts);
    at.drafter().draw(table, at.instance().drafts, tabulated.batch());
    at.verifier().simulate_on(table, at.instance().drafts)->decide(tabulated.batch(), tabulated.verdicts.data());
    if (auto wrong = first_fault(at, rows, tabulated)) return Answer::failed("on the table, " + *wrong);
    return Answer::passed();
  }

 private:
  static std::optional<std::string> first_fault(const InstanceAnalysis& at, const Rows<double>& rows,
                                                const Trials& ran) {
    for (std::size_t t = 0; t < ran.verdicts.size(); ++t) {
      const auto first = ran.drafts.begin() + static_cast<std::ptrdiff_t>(t) * ran.stride;
      const Tuple tuple(first, first + ran.lengths[t]);
      if (const auto fault = fault_of(ran.verdicts[t], tuple, rows))
        return "trial " + std::to_string(t) + " of " + std::string(at.drafter().info().name) + ", drafts " +
               tuple_text(tuple) + ": " + *fault;
    }
    return std::nullopt;
  }
};

// Losslessness by trials, for schemes that cannot be enumerated: an e-value, the payoff of bets against p on the tokens
// of many trials, on a small instance.
struct SampledDistribution {
  static constexpr std::string_view name = "sampled_distribution";
  static constexpr std::string_view about =
      "schemes that cannot be enumerated: tokens of trials follow p, tested by an e-value";
  static constexpr int every = 8;
  static constexpr bool explores = false;
  static constexpr Tier tier = Tier::sampled;
  static constexpr int trials = 1 << 16;
  /// The e-value from which on the property fails. This property, unbiased_over_keys and sampled_prefix_distribution
  /// run on fewer than 10^6 instances per build and share half of the build's false-alarm probability of 1e-9, so each
  /// instance has 5e-16 = 1 / 2e15.
  static constexpr double alarm = 2e15;

  static bool applies(const AnyVerifier& verifier, const AnyDrafter&) {
    return !verifier.info().unsupported.explore.empty() && verifier.info().promise == Promise::lossless &&
           !verifier.info().shared_noise;
  }
  static Answer check(InstanceAnalysis& at) { return follows_target(at, at.trials(at.instance(), trials)); }

  /// Whether the tokens of `ran` follow the target.
  static Answer follows_target(const InstanceAnalysis& at, const Trials& ran) {
    std::vector<double> distribution;
    for (const Rational& p : normalised(at.instance().target)) distribution.push_back(static_cast<double>(p));
    std::vector<std::uint64_t> counts(distribution.size());
    for (const Verdict& verdict : ran.verdicts) {
      if (verdict.token < 0) return Answer::failed("a branch of probability zero was reached");
      ++counts[static_cast<std::size_t>(verdict.token)];
    }
    const double log_e = log_e_multinomial(distribution, counts);
    return Answer::passed_if(log_e < std::log(alarm), [&] {
      std::string text = "e = 10^" + std::to_string(static_cast<int>(log_e / std::log(10.0))) + ", got";
      for (const auto count : counts) text += " " + std::to_string(count);
      return text + " of " + std::to_string(trials) + " trials, expected in proportion to " +
             brief(normalised(at.instance().target));
    });
  }
};

// Losslessness over uniform keys, for schemes that read the drafter's noise: a watermark or reproducible sampling. The
// number of a trial is its key and determines all its random bits, so a second run with the same keys must emit the
// same tokens. Over many keys, the tokens must follow p.
struct UnbiasedOverKeys {
  static constexpr std::string_view name = "unbiased_over_keys";
  static constexpr std::string_view about =
      "on shared noise: a key determines the token, and over uniform keys tokens follow p, tested by an e-value";
  static constexpr int every = SampledDistribution::every;
  static constexpr bool explores = false;
  static constexpr Tier tier = Tier::sampled;

  static bool applies(const AnyVerifier& verifier, const AnyDrafter&) {
    return verifier.info().shared_noise && verifier.info().promise == Promise::lossless;
  }
  static Answer check(InstanceAnalysis& at) {
    const Trials first = at.trials(at.instance(), SampledDistribution::trials);
    const Trials second = at.trials(at.instance(), SampledDistribution::trials);
    for (std::size_t key = 0; key < first.verdicts.size(); ++key)
      if (first.verdicts[key].token != second.verdicts[key].token)
        return Answer::failed("key " + std::to_string(key) + " emits " + std::to_string(first.verdicts[key].token) +
                              ", and called again " + std::to_string(second.verdicts[key].token));
    return SampledDistribution::follows_target(at, first);
  }
};

// Given one draft tuple, the verdict is a distribution, no emitted token has p = 0, and a draft counted as
// accepted is the emitted token.
//
// The output distribution averages over tuples and ignores the accepted index. A wrong index makes an engine
// keep the wrong draft's state; a token with p = 0 proves a defect however few trials there are.
struct DraftConditional {
  static constexpr std::string_view name = "draft_conditional";
  static constexpr std::string_view about =
      "given the drafts: mass 1, no mass where p = 0, and an accepted draft is the emitted token";
  static constexpr int every = 4;

  static bool applies(const AnyVerifier&, const AnyDrafter&) { return true; }
  static Answer check(InstanceAnalysis& at) {
    const auto rows = at.instance().rows();
    const auto decider = at.verifier().prove_on(rows, at.instance().drafts);
    std::string evidence;
    bool whole = true;
    const bool all = at.each_tuple([&](std::span<const Token> tuple, const Rational&) {
      if (!evidence.empty() || !whole) return;
      Rational mass = 0;
      const auto add = [&](Token x, int accepted, const Rational& probability) {
        mass += probability;
        if (evidence.empty() && probability > 0) evidence = fault(rows, tuple, x, accepted);
      };
      whole = at.each_verdict(*decider, tuple, add);
      if (whole && evidence.empty() && mass != 1) evidence = "has mass " + to_text(mass);
      if (!evidence.empty()) evidence = "given the drafts " + text_of(tuple) + " " + evidence;
    });
    if (!evidence.empty()) return Answer::failed(evidence);
    return all && whole ? Answer::passed() : Answer::undecided("the enumeration reached its limit");
  }

 private:
  static std::string text_of(std::span<const Token> tuple) {
    std::string text = "(";
    for (const Token x : tuple) text += (text.size() > 1 ? " " : "") + std::to_string(x);
    return text + ")";
  }
  static std::string fault(const Rows<Rational>& rows, std::span<const Token> tuple, Token x, int accepted) {
    if (!(rows.target(x) > 0)) return "emits " + std::to_string(x) + ", which has p = 0";
    if (accepted < 0) return {};
    if (accepted >= static_cast<int>(tuple.size()))
      return "accepts draft " + std::to_string(accepted) + ", which does not exist";
    if (tuple[static_cast<std::size_t>(accepted)] == x) return {};
    return "accepts draft " + std::to_string(accepted) + " and emits " + std::to_string(x);
  }
};

// A drafter draws from the distribution that it declares: its enumerated draws against the closed form in its
// file, prefix by prefix, so that the first wrong draft is named. A wrong drafter (a mutant) is compared with
// the distribution that it claims.
//
//   drawn(s)      enumerated probability that the tuple begins with s
//   mass(s)       the declared probability, AnyDrafter::declared_mass
//
// Equality for every prefix and every next token determines the distribution, including lengths: the probability that
// the tuple is exactly s is drawn(s) minus the sum of drawn over s with one more token. Verifiers are tested
// separately, on drafts of any distribution.
struct DeclaredDrafts {
  static constexpr std::string_view name = "declared_drafts";
  static constexpr std::string_view about = "draft by draft, tuples have the distribution that the drafter declares";
  static constexpr int every = 4;
  static constexpr bool explores = false;  // check() enumerates only the drafter

  /// Does not apply to shared noise: enumeration would replace its drafter by a plain drafter of the declared
  /// distribution.
  static bool applies(const AnyVerifier&, const AnyDrafter& drafter) { return !drafter.info().shared_noise(); }
  static Answer check(InstanceAnalysis& at) {
    const auto rows = at.instance().rows();
    const auto drafts = static_cast<std::size_t>(at.instance().drafts);
    std::map<Tokens, Rational, ShorterFirst> drawn;
    const bool whole = at.each_tuple([&](std::span<const Token> tuple, const Rational& probability) {
      for (std::size_t n = 0; n <= tuple.size(); ++n) {
        const auto prefix = tuple.first(n);
        drawn[Tokens(prefix.begin(), prefix.end())] += probability;
      }
    });
    if (!whole) return Answer::undecided("more than " + std::to_string(at.limits().leaves) + " branches");
    for (const auto& [prefix, mass] : drawn) {
      if (prefix.size() == drafts) break;
      bool right = true;
      std::vector<Rational> got, wanted;
      Tokens longer = prefix;
      longer.push_back(0);
      for (Token& x = longer.back(); x < rows.vocabulary(); ++x) {
        const auto declared = at.drafter().declared_mass(rows, at.instance().drafts, longer);
        if (!declared) return Answer::not_applicable();
        const auto found = drawn.find(longer);
        got.push_back(found == drawn.end() ? Rational(0) : Rational(found->second / mass));
        wanted.push_back(*declared / mass);  // declared mass of the prefix = `mass`
        right = right && got.back() == wanted.back();
      }
      if (!right)
        return Answer::failed("draft " + std::to_string(prefix.size()) + " after " + prefix_text(prefix) +
                              " has distribution " + to_text(got) + ", declared " + to_text(wanted) + ", TV " +
                              to_text(total_variation(got, wanted)));
    }
    return Answer::passed();
  }
};

}  // namespace draftproof::checks
