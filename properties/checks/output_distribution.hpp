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

// Losslessness itself: the law of the emitted token equals the target, as fractions. A scheme that is lossy by design
// is asked too: the answer is its law and its distance, and one that turned out exact would be worth knowing.
struct ExactLaw {
  static constexpr std::string_view name = "exact_law";
  static constexpr std::string_view about = "the output law equals p, with == on fractions";
  static constexpr int every = 1;

  static bool applies(const AnyVerifier& verifier, const AnyDrafter&) {
    return verifier.info().promise != Promise::lossless_up_to;
  }
  static Answer check(InstanceAnalysis& at) {
    const auto& law = at.law();
    if (!law.complete) return Answer::undecided("more than " + std::to_string(at.limits().leaves) + " branches");
    const auto target = normalised(at.instance().target);
    return Answer::held_if(law.mass == 1 && law.output == target, [&] {
      return "got " + brief(law.output) + ", wanted " + brief(target) + ", TV " +
             brief(total_variation(law.output, target));
    });
  }
};

// No trial emits a token that the target does not have, none ends without a token, and an accepted draft is the
// token: a count above zero is a proof of failure.
//
// Seeded trials on the plain rows and on the prepared table, where the scheme has one. Deterministic: the same trials
// every time, whatever else is asked.
struct ZeroSupport {
  static constexpr std::string_view name = "zero_support";
  static constexpr std::string_view about = "no trial emits a token with p = 0, or none, or accepts another draft";
  static constexpr int every = 2;
  static constexpr bool explores = false;
  static constexpr Tier tier = Tier::edge;
  static constexpr int trials = 32;

  static bool applies(const AnyVerifier&, const AnyDrafter&) { return true; }
  static Answer check(InstanceAnalysis& at) {
    const Rows<double> rows = double_laws(at.instance());
    if (auto wrong = first_fault(at, rows, at.trials(at.instance(), trials))) return Answer::violated(*wrong);
    if (!at.verifier().info().unsupported.simulate.empty()) return Answer::held();
    const RatioTable table = table_of(rows);
    Trials tabulated(trials, at.instance().drafts);
    at.drafter().draw(table, at.instance().drafts, tabulated.batch());
    at.verifier().simulate_on(table, at.instance().drafts)->decide(tabulated.batch(), tabulated.verdicts.data());
    if (auto wrong = first_fault(at, rows, tabulated)) return Answer::violated("on the table, " + *wrong);
    return Answer::held();
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

// Losslessness by trials, for schemes that cannot be explored: the tokens of many trials on a small instance, as a
// bet against p.
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

// One draft tuple at a time: the verdict is a law, it never emits what the target cannot, and a draft it says it
// accepted is the token it emitted.
//
// The output law averages over tuples and does not look at flags. A wrong index there corrupts whatever an engine
// keeps of the accepted draft; a token without target mass is proof of a defect at any number of trials.
struct DraftConditional {
  static constexpr std::string_view name = "draft_conditional";
  static constexpr std::string_view about =
      "given the drafts: mass 1, none where p = 0, and an accepted draft is the token emitted";
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
    if (!evidence.empty()) return Answer::violated(evidence);
    return all && whole ? Answer::held() : Answer::undecided("the tree was not walked whole");
  }

 private:
  static std::string text_of(std::span<const Token> tuple) {
    std::string text = "(";
    for (const Token x : tuple) text += (text.size() > 1 ? " " : "") + std::to_string(x);
    return text + ")";
  }
  static std::string fault(const Rows<Rational>& rows, std::span<const Token> tuple, Token x, int accepted) {
    if (!(rows.target(x) > 0)) return "emits " + std::to_string(x) + ", which the target cannot";
    if (accepted < 0) return {};
    if (accepted >= static_cast<int>(tuple.size())) return "accepts draft " + std::to_string(accepted) + " of none";
    if (tuple[static_cast<std::size_t>(accepted)] == x) return {};
    return "accepts draft " + std::to_string(accepted) + " and emits " + std::to_string(x);
  }
};

// A drafter draws from the law it declares: the walk of its draws against the closed form its file states, prefix by
// prefix, so that the first wrong draft is named. A drafter that is wrong on purpose is held to the law it poses as.
//
//   drawn(s)      explored probability that the tuple begins with s
//   mass(s)       the declared one, AnyDrafter::declared_mass
//
// Equal for every prefix and every token after it decides the law, lengths too: a tuple ends after s with what its
// continuations leave of drawn(s). Verifiers are tested apart from this, on drafts that may have any law.
struct DeclaredDrafts {
  static constexpr std::string_view name = "declared_drafts";
  static constexpr std::string_view about = "draft by draft, tuples have the law the drafter declares";
  static constexpr int every = 4;
  static constexpr bool explores = false;  // the drafter is walked, not the verifier

  /// Shared noise cannot be walked: in its place would be the drafter whose law it declares.
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
        wanted.push_back(*declared / mass);  // the prefix itself was right
        right = right && got.back() == wanted.back();
      }
      if (!right)
        return Answer::violated("draft " + std::to_string(prefix.size()) + " after " + prefix_text(prefix) +
                                " has law " + to_text(got) + ", declared " + to_text(wanted) + ", TV " +
                                to_text(total_variation(got, wanted)));
    }
    return Answer::held();
  }
};

}  // namespace draftproof::checks
