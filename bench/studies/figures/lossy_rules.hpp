// The study of lossy rules: the gain of each rule over lossless verification, whether its output has a certificate for
// rollouts, and how much farther from p its output is than the output of the nearest rule with the same acceptance.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include <draftproof/bench/studies/positions.hpp>
#include <draftproof/captures/filter.hpp>
#include <draftproof/properties/proof/instance_analysis.hpp>
#include <draftproof/properties/proof/rollout_certificate.hpp>
#include <draftproof/sim/distributions/plain_rows.hpp>
#include <draftproof/verifiers/lossy/mentored_decoding.hpp>

namespace draftproof::studies {

// Each rule verifies one draft, from the first draft sampling that the rule is written for. All registered lossy rules
// run at their default settings. Output distributions are enumerated in double.
//
//   d            distribution of the draft; q, or its most probable token
//   accepted     probability that the rule accepts the draft
//   gain         accepted - sum min(p, d), the acceptance of the best lossless rule
//   TV, KL       total variation of the output from p, and KL(output || p) in nats: means over positions
//   least TV     the least TV of any rule with this acceptance: the gain, if it is positive
//   least KL     the least KL of any rule with this acceptance, which mentored decoding attains
//   p / output   largest importance ratio over positions and tokens with p > 2^-40
//
// Cost: V^2 branches per rule and position, so rows of more than `whole` tokens are cut to their `likeliest` most
// probable tokens, as by an engine's top-k.
// Source: derived here; for the optimum in KL see verifiers/lossy/mentored_decoding.hpp.
// Claimed: no rule is nearer to p than the least TV and the least KL at its acceptance; `diversed` attains the least
// TV and `mentored_decoding` the least KL.
struct LossyRules {
  static constexpr std::string_view name = "lossy_rules";
  static constexpr std::string_view about =
      "gain, distance and price of lossy rules, and their certificates for rollouts";
  static constexpr std::string_view source = "derived here";

  static constexpr std::size_t whole = 1024, likeliest = 64;
  static constexpr double least_emitted = 0x1p-40;

  /// Effort: positions of each source, 32 by default.
  static StudyResult run(const StudyOptions& options) {
    const std::vector<Rule> rules = all_rules();
    StudyResult result;
    result.document.data = {{"schema", "draftproof.study.lossy_rules/1"}, {"seed", options.seed}};
    Checks checks;
    study_positions(
        options, {"zipf:positions=16", "dirichlet:positions=16", "gaussian_logits:positions=16"},
        options.effort > 0 ? options.effort : 32, result,
        [&](const Source& from, std::size_t i) { return outcomes(rows_of(from.pair(i)), rules); },
        [&](const Source& from, const std::vector<std::vector<Outcome>>& at) {
          for (std::size_t i = 0; i < at.size(); ++i)
            for (std::size_t r = 0; r < rules.size(); ++r)
              check(at[i][r], fmt::format("{}, position {}, {}", from.name(), i, rules[r].name), rules[r].name,
                    checks);
          write(from, at, rules, result.document);
        });
    checks.report(result,
                  "no rule is below the least TV and KL at its acceptance; diversed and mentored_decoding are there");
    return result;
  }

 private:
  struct Rule {
    std::string_view name;
    const AnyVerifier* verifier;
    const AnyDrafter* drafter;
  };
  struct Outcome {
    int vocabulary;
    double accepted, gain, least_divergence;
    RolloutCertificate<double> certificate;

    double least_distance() const { return std::max(gain, 0.0); }
  };

  static std::vector<Rule> all_rules() {
    std::vector<Rule> rules;
    for (const auto& verifier : registry().verifiers())
      if (verifier->info().promise == Promise::lossy && verifier->info().fewest_drafts == 1)
        rules.push_back({verifier->info().name, &*verifier, registry().drafters_of(verifier->info()).front()});
    return rules;
  }

  static Rows<double> rows_of(const RowPair& pair) {
    if (pair.target.size() <= whole) return Rows<double>(pair.target, pair.proposals.front());
    return Rows<double>(filtered_distribution(pair.target, {.top_k = likeliest}),
                        filtered_distribution(pair.proposals.front(), {.top_k = likeliest}));
  }

  /// Returns a bound of the rounding error. An entry of a row, an addition in a sum over V tokens and the explorer's
  /// product of up to three numbers have a relative error below 2^-52 each; a sum has V such errors.
  static double rounding(int vocabulary) { return 16.0 * vocabulary * 0x1p-52; }

  /// Returns the least KL(pi || p) of output distributions pi with this acceptance, infinity if no pi has it.
  static double least_divergence(const Rows<double>& rows, double accepted) {
    const auto refused = [&rows](double c) {
      return rows.sum([&rows, c](Token x) { return std::max(rows.proposal(x) - rows.target(x) / c, 0.0); });
    };
    const double most = 1 - accepted + rounding(rows.vocabulary());
    double low = 0x1p-90, high = 1;
    if (refused(high) <= most) return 0;
    if (refused(low) > most) return std::numeric_limits<double>::infinity();
    for (int step = 0; step < 150; ++step) (refused((low + high) / 2) <= most ? low : high) = (low + high) / 2;
    return verifiers::lossy::MentoredDecoding::divergence_of(rows,
                                                             verifiers::lossy::MentoredDecoding::plan_of(rows, low));
  }

  static std::vector<Outcome> outcomes(const Rows<double>& rows, const std::vector<Rule>& rules) {
    std::vector<double> target, proposal;
    for (Token x = 0; x < rows.vocabulary(); ++x) {
      target.push_back(rows.target(x));
      proposal.push_back(rows.proposal(x));
    }
    std::vector<double> mode(target.size(), 0.0);
    mode[static_cast<std::size_t>(rows.kth_most_probable(0))] = 1;
    std::vector<Outcome> all;
    for (const Rule& rule : rules) {
      const Rows<double> drafted(target, rule.drafter->info().fixed ? mode : proposal);
      const auto distribution = explore_distribution(*rule.drafter, *rule.verifier->explore_on(rows, 1), rows, 1);
      if (!distribution.complete) throw EnumerationCut("too many branches to enumerate");
      const double overlap =
          drafted.sum([&drafted](Token x) { return std::min(drafted.target(x), drafted.proposal(x)); });
      all.push_back({rows.vocabulary(), distribution.draft_accepted, distribution.draft_accepted - overlap,
                     least_divergence(drafted, distribution.draft_accepted),
                     rollout_certificate<double>(distribution.output, target, least_emitted)});
    }
    return all;
  }

  static void check(const Outcome& got, const std::string& where, std::string_view rule, Checks& checks) {
    // As a function of the refused mass R, the least KL is convex and falls with the slope ln(1 / (b c)), where b, c, P
    // and Q are those of verifiers/lossy/mentored_decoding.hpp. Here c >= 2^-90; and b = (R + Q) / P >= R. So a change
    // of R by d changes the least KL by at most the integral of ln(2^90 / R) from 0 to d, d (90 ln 2 + 1 + ln(1 / d)).
    // least_divergence() adds `error` to R, and R has another error of at most `error`: d = 2 error, which is at least
    // 2^-46 for V >= 2, so the factor of d is below 96. Each of the two divergences is a sum of pi ln t with
    // t = pi / p. Its absolute terms add up to less than 63 and t has a relative error below error / 4, so the sum has
    // an error below 32 error.
    const double error = rounding(got.vocabulary), error_of_divergence = (96 * 2 + 2 * 32) * error;
    const auto at_most = [&](double value, double limit, double tolerance, const char* claim) {
      checks.at_most(value, limit, tolerance, [&] { return where + ", " + claim; });
    };
    at_most(got.least_distance(), got.certificate.total_variation, error, "least TV");
    if (rule == "diversed") at_most(got.certificate.total_variation, got.least_distance(), error, "attained TV");
    if (std::isinf(got.certificate.divergence)) return;
    at_most(got.least_divergence, got.certificate.divergence, error_of_divergence, "least KL");
    if (rule == "mentored_decoding")
      at_most(got.certificate.divergence, got.least_divergence, error_of_divergence, "attained KL");
  }

  static void write(const Source& from, const std::vector<std::vector<Outcome>>& at, const std::vector<Rule>& rules,
                    Document& document) {
    nlohmann::ordered_json entry = entry_of(from, at.size());
    Records records{{.title = from.name(), .before = {size_line(from, at.size(), "; means over positions")}}};
    std::vector<std::size_t> order;
    for (std::size_t r = 0; r < rules.size(); ++r) order.push_back(r);
    const auto mean = [&at](std::size_t r, auto&& value) {
      return mean_over(at, [&](const std::vector<Outcome>& one) { return value(one[r]); });
    };
    const auto accepted = [&mean](std::size_t r) { return mean(r, [](const Outcome& o) { return o.accepted; }); };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return accepted(a) < accepted(b); });
    for (const std::size_t r : order) {
      std::size_t refused = 0;
      double ratio = 0;
      for (const auto& one : at) {
        refused += one[r].certificate.refused();
        ratio = std::max(ratio, one[r].certificate.ratio);
      }
      const double divergence = mean(r, [](const Outcome& o) { return o.certificate.divergence; });
      const double least = mean(r, [](const Outcome& o) { return o.least_divergence; });
      const auto finite = [](double value) { return std::isfinite(value) ? nlohmann::ordered_json(value) : nullptr; };
      records.add(
          {word("rule", "rule", rules[r].name), word("drafts", "draft_sampling", rules[r].drafter->info().name),
           number("accepted", "accepted", accepted(r), "{:.4f}"),
           number("gain", "gain", mean(r, [](const Outcome& o) { return o.gain; }), "{:+.4f}"),
           number("TV", "total_variation", mean(r, [](const Outcome& o) { return o.certificate.total_variation; }),
                  "{:.4f}"),
           number("least TV", "least_total_variation", mean(r, [](const Outcome& o) { return o.least_distance(); }),
                  "{:.4f}"),
           cell("KL", fmt::format("{:.4f}", divergence)), datum("divergence", finite(divergence)),
           cell("least KL", fmt::format("{:.4f}", least)), datum("least_divergence", finite(least)),
           cell("p / output", refused > 0 ? fmt::format("unbounded at {}", refused) : fmt::format("{:.3g}", ratio)),
           datum("refused", refused), datum("largest_ratio", refused > 0 ? nullptr : finite(ratio))});
    }
    records.write(document, entry, "rules");
    document.data["sources"].push_back(std::move(entry));
  }
};

}  // namespace draftproof::studies
