// Properties that compare two computations of the same output distribution.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <draftproof/properties/instances/instance.hpp>
#include <draftproof/properties/paths/path_analysis.hpp>
#include <draftproof/properties/paths/path_scripted.hpp>
#include <draftproof/properties/proof/property.hpp>
#include <draftproof/properties/scripted/scripted_decision.hpp>
#include <draftproof/properties/scripted/scripted_trials.hpp>

namespace draftproof::checks {

// The same random bits give the same output: on a new plan, on another plan, and on a plan that made other
// decisions in between. A plan may cache results; its decisions may not change. Seeded, deterministic.
template <class Level>
struct Determinism {
  using Analysis = typename Level::InstanceAnalysis;

  static constexpr std::string_view name = "determinism";
  static constexpr std::string_view about =
      on_level<Level>("a decision depends on p, q, drafts and random bits, not on other decisions",
                      "a step depends on p, q, tree, carry and random bits, not on other iterations");
  static constexpr int every = 4;
  static constexpr bool explores = false;
  static constexpr Tier tier = Tier::edge;
  static constexpr std::uint64_t trials = 6;

  static bool applies(const typename Level::Verifier&, const typename Level::Drafter&) { return true; }
  static Answer check(Analysis& at) {
    const auto distributions = double_distributions(at.instance());
    if (auto wrong = first_difference(at, distributions)) return Answer::failed(*wrong);
    if constexpr (std::is_same_v<Level, TokenLevel>) {
      if (!at.verifier().info().unsupported.simulate.empty()) return Answer::passed();
      if (auto wrong = first_difference(at, table_of(distributions)))
        return Answer::failed("on the table, " + *wrong);
    }
    return Answer::passed();
  }

 private:
  template <class L>
  static std::optional<std::string> first_difference(const Analysis& at, const L& distributions) {
    const auto used = plan_on(at, distributions), other = plan_on(at, distributions);
    using Trial = std::conditional_t<std::is_same_v<Level, TokenLevel>, ScriptedTrial, Iteration>;
    std::vector<Trial> before;
    first_fault(at, distributions, *used, trials, [&](std::uint64_t, const Trial& trial, const auto&, const auto&) {
      before.push_back(trial);
      return std::optional<std::string>();
    });
    for (std::uint64_t t = before.size(); t-- > 0;) {
      // `used` decided trial t after the trials before it. A new plan that decides trial t first must give the same
      // result.
      const auto fresh = plan_on(at, distributions);
      using Plan = std::pair<decltype(used.get()), const char*>;
      const Plan alone{fresh.get(), " from a new plan"}, another{other.get(), " from another plan"};
      const Plan again{used.get(), on_level<Level>(" after others", " from the same plan")};
      for (const auto& [plan, which] :
           on_level<Level>(std::array{another, again, alone}, std::array{alone, another, again})) {
        TrialWords words(1, t, Philox::Role::verify);
        if (auto wrong = difference(before[t], run_scripted(*plan, before[t], words), " draws, and "))
          return place_of(t, before[t]) + ": " + *wrong + which;
      }
    }
    return std::nullopt;
  }
};

// If p = q (along paths: after every prefix), schemes with the claim `accepts_equal_distributions` always accept a
// draft (along paths: L tokens): with probability 1, or in every trial if the scheme cannot be enumerated.
template <class Level>
struct EqualDistributions {
  static constexpr std::string_view name = "equal_distributions";
  static constexpr std::string_view about = on_level<Level>(
      "p = q: some draft is accepted with probability 1", "where claimed: p = q accepts L tokens with probability 1");
  static constexpr int every = 4;
  static constexpr bool explores = false;
  static constexpr int trials = on_level<Level>(64, 16);

  /// Does not apply to fixed trees, which may lack the tokens that the target emits.
  static bool applies(const typename Level::Verifier& verifier, const typename Level::Drafter& drafter) {
    const auto& drafts = drafter.info();
    // A drafter that uses a cached row does not draw from the current row, so q = p does not hold for it.
    if constexpr (!positions)
      if (drafts.row != DraftRow::context) return false;
    return verifier.info().claims.accepts_equal_distributions && !(positions ? drafts.ranks_tokens : drafts.fixed);
  }
  static Answer check(typename Level::InstanceAnalysis& at) {
    auto equal = at.instance();
    edit_proposals(equal, [](const auto& p, auto& q) { q = p; });
    if (!at.verifier().info().unsupported.explore.empty()) {
      const int refused = refusals(at, at.trials(equal, trials));
      return Answer::passed_if(refused == 0, [&] {
        return on_level<Level>("with q = p rejects all drafts in ", "with q = p accepts no whole path in ") +
               std::to_string(refused) + " of " + std::to_string(trials) + " trials";
      });
    }
    const auto distribution = at.distribution_of(equal);
    if (!distribution.complete) return Answer::undecided("the enumeration reached its limit");
    if constexpr (positions)
      return Answer::passed_if(distribution.draft_accepted == 1,
                               [&] { return "with q = p accepts " + to_text(distribution.draft_accepted); });
    else
      return Answer::passed_if(distribution.accepted.back() == 1, [&] {
        return "with q = p accepted counts have distribution " + to_text(distribution.accepted);
      });
  }

 private:
  static constexpr bool positions = std::is_same_v<Level, TokenLevel>;

  static int refusals(const InstanceAnalysis&, const Trials& run) {
    const auto refuses = [](const Verdict& v) { return v.accepted < 0; };
    return static_cast<int>(std::count_if(run.verdicts.begin(), run.verdicts.end(), refuses));
  }
  static int refusals(const PathInstanceAnalysis& at, const std::vector<PathTrial>& run) {
    const auto refuses = [&](const PathTrial& trial) { return trial.accepted() < at.instance().shape.length; };
    return static_cast<int>(std::count_if(run.begin(), run.end(), refuses));
  }
};

// A scheme has one output distribution on plain rows, the prepared table and fresh rows, and accepts equally often:
// enumerated in double, they differ by rounding alone. The tokens for the same random bits may differ.
//
//   TV       below 8 K (V + 8) 2^-53: at most K (V + 8) 2^-53 per form from the sums and products of K tests, V 2^-53
//            from rounding the table's rows, and as much again from the plans of a scheme. The same bound holds for the
//            difference of two acceptance probabilities
//
// Entries that are equal in a row are equal in every form, so a scheme that compares or sorts entries decides the same
// on all forms (RowRest, sim/sampling/weights.hpp); the families "flat" and "ties" have such rows. If two numbers that
// a scheme computes from the rows are equal in fractions, rounding may make either one the greater; the output
// distribution of a lossless scheme does not depend on which one is the greater. Acceptance is compared between plain
// rows and the table alone, because fresh rows have coarse bins, and not for plans found by a search
// (Info::searches_plan), because rounding may lead the search to another plan.
struct FormsAgree {
  static constexpr std::string_view name = "forms_agree";
  static constexpr std::string_view about =
      "all representations of the rows give the same distribution up to rounding";
  static constexpr int every = 8;
  static constexpr Tier tier = Tier::edge;

  static bool applies(const AnyVerifier& verifier, const AnyDrafter&) {
    return verifier.info().promise == Promise::lossless && verifier.info().unsupported.simulate.empty() &&
           verifier.info().precision_audited();
  }
  static Answer check(InstanceAnalysis& at) {
    const Rows<double> rows = double_distributions(at.instance());
    const auto entries = [&rows](auto probability) {
      std::vector<double> row;
      for (Token x = 0; x < rows.vocabulary(); ++x) row.push_back(probability(x));
      return row;
    };
    const auto p = entries([&rows](Token x) { return rows.target(x); });
    std::vector<std::vector<double>> q;
    for (int k = 0; k < rows.proposals(); ++k)
      q.push_back(entries([&rows, k](Token x) { return rows.proposal(x, k); }));
    const FreshRows<double> fresh(p, std::vector<std::span<const double>>(q.begin(), q.end()));
    const auto plain = distribution_on(at, rows);
    if (!plain->complete) return Answer::undecided("the enumeration reached its limit");
    const double bound = 8.0 * at.instance().drafts * (at.instance().vocabulary() + 8) * 0x1p-53;
    const auto distance = [&](const auto& distribution) {
      double sum = 0;
      if (distribution && distribution->complete)
        for (std::size_t x = 0; x < plain->output.size(); ++x)
          sum += std::abs(plain->output[x] - distribution->output[x]) / 2;
      return sum;
    };
    const auto table = distribution_on(at, table_of(rows));
    const double on_table = distance(table), on_fresh = distance(distribution_on(at, fresh));
    double acceptance = 0;
    if (table && table->complete && !at.verifier().info().searches_plan)
      acceptance = std::max(std::abs(plain->draft_accepted - table->draft_accepted),
                            std::abs(plain->draft_emitted - table->draft_emitted));
    return Answer::passed_if(std::max({on_table, on_fresh, acceptance}) <= bound, [&] {
      char text[160];
      std::snprintf(text, sizeof text,
                    "TV to plain rows %.3g on the table and %.3g on fresh rows, acceptance differs by %.3g, expected "
                    "at most %.3g",
                    on_table, on_fresh, acceptance, bound);
      return std::string(text);
    });
  }

 private:
  /// Returns nullopt if the scheme does not support the form.
  template <class L>
  static std::optional<draftproof::ExactDistribution<double>> distribution_on(InstanceAnalysis& at,
                                                                              const L& distributions) {
    const int drafts = at.instance().drafts;
    const auto decider = at.verifier().explore_on(distributions, drafts);
    if (!decider) return std::nullopt;
    return explore_distribution(at.drafter(), *decider, distributions, drafts, at.limits());
  }
};

// Appending tokens with p = q = 0 changes nothing.
struct Padding {
  static constexpr std::string_view name = "padding";
  static constexpr std::string_view about = "appending tokens with p = q = 0 changes nothing";
  static constexpr int every = 4;

  /// Does not apply to draft sampling that requires K <= V, because it depends on the size of the vocabulary.
  static bool applies(const AnyVerifier&, const AnyDrafter& drafter) { return !drafter.info().needs_k_tokens; }
  static Answer check(InstanceAnalysis& at) {
    Instance padded = at.instance();
    padded.target.insert(padded.target.end(), 2, 0);
    for (auto& row : padded.proposals) row.insert(row.end(), 2, 0);
    const auto distribution = at.distribution_of(padded);
    if (!distribution.complete || !at.distribution().complete)
      return Answer::undecided("the enumeration reached its limit");
    auto expected = at.distribution().output;
    expected.insert(expected.end(), 2, Rational(0));
    return Answer::passed_if(
        distribution.output == expected && distribution.draft_emitted == at.distribution().draft_emitted, [&] {
          return "got " + to_text(at.distribution().output) + ", with two empty tokens " +
                 to_text(distribution.output);
        });
  }
};

// Permuting the token ids permutes the output distribution and leaves acceptance unchanged.
struct Relabelling {
  static constexpr std::string_view name = "relabelling";
  static constexpr std::string_view about = "reversing the token ids reverses the output distribution";
  static constexpr int every = 4;

  /// Does not apply to draft sampling that ranks tokens, which breaks ties by id. A scheme that is lossy by design may
  /// break ties by id too, but the output of a lossless scheme is p in any order of tokens.
  static bool applies(const AnyVerifier& verifier, const AnyDrafter& drafter) {
    return !drafter.info().ranks_tokens &&
           !(verifier.info().ranks_tokens && verifier.info().promise == Promise::lossy);
  }
  static Answer check(InstanceAnalysis& at) {
    Instance reversed = at.instance();
    std::reverse(reversed.target.begin(), reversed.target.end());
    for (auto& row : reversed.proposals) std::reverse(row.begin(), row.end());
    auto distribution = at.distribution_of(reversed);
    if (!distribution.complete || !at.distribution().complete)
      return Answer::undecided("the enumeration reached its limit");
    std::reverse(distribution.output.begin(), distribution.output.end());
    return Answer::passed_if(distribution.output == at.distribution().output &&
                                 distribution.draft_emitted == at.distribution().draft_emitted,
                             [&] {
                               return "got " + to_text(at.distribution().output) + ", with reversed ids " +
                                      to_text(distribution.output);
                             });
  }
};

// Splitting a token into two halves, in p and in every q, leaves the sum of their output probabilities unchanged.
//
// Rules that compare probabilities with constants, or that count tokens, fail this property.
struct Splitting {
  static constexpr std::string_view name = "splitting";
  static constexpr std::string_view about =
      "a token split in two, p and q alike, keeps its mass in the output distribution";
  static constexpr int every = 4;

  static bool applies(const AnyVerifier& verifier, const AnyDrafter&) {
    return verifier.info().promise == Promise::lossless;
  }
  static Answer check(InstanceAnalysis& at) {
    // Splits the likeliest token of p, with the lowest id among ties, so that the choice depends on the instance alone.
    const auto& target = at.instance().target;
    std::size_t x = 0;
    for (std::size_t y = 1; y < target.size(); ++y)
      if (target[y] > target[x]) x = y;
    Instance split = at.instance();
    for (auto* row : rows_of(split)) {
      for (int& weight : *row) weight *= 2;
      (*row)[x] /= 2;
      row->push_back((*row)[x]);
    }
    const auto distribution = at.distribution_of(split);
    if (!distribution.complete || !at.distribution().complete)
      return Answer::undecided("the enumeration reached its limit");
    auto merged = distribution.output;
    merged[x] += merged.back();
    merged.pop_back();
    return Answer::passed_if(merged == at.distribution().output, [&] {
      return "got " + to_text(at.distribution().output) + ", with token " + std::to_string(x) + " split in two " +
             to_text(merged);
    });
  }
};

}  // namespace draftproof::checks
