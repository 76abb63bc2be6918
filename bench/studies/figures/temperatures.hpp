// Studies of drafts whose temperature differs from the target's.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <span>

#include <draftproof/bench/studies/positions.hpp>
#include <draftproof/captures/filter.hpp>
#include <draftproof/optimum/iid_acceptance.hpp>
#include <draftproof/optimum/independent_bounds.hpp>
#include <draftproof/optimum/race_acceptance.hpp>
#include <draftproof/sim/distributions/plain_rows.hpp>
#include <draftproof/verifiers/ladder_independent.hpp>
#include <draftproof/verifiers/recursive_rejection_independent.hpp>
#include <draftproof/verifiers/tournament.hpp>
#include <draftproof/verifiers/truncated_alphabet.hpp>
#include <draftproof/verifiers/truncated_lp.hpp>

namespace draftproof::studies {

// Tests whether acceptance rises if the draft temperature is chosen from the row of q alone: drafts are drawn without
// replacement from q^(1/T), where T depends on the mass of the K likeliest tokens of q.
//
//   T           .7 .. 2           temperature of the drafts; the ladder verifies drafts of any T, because it reads
//                                 their distribution
//   c(q)        feature           q-mass of the K likeliest tokens
//   adaptive    T by c(q)         each half of the positions is divided by c(q) into four groups of equal size; a
//                                 position takes the T that is best on average in the group of the other half in whose
//                                 range its c(q) lies
//   oracle      T by position     the best T of each position, which depends on p: an upper bound of all rules
//
// Cost: an optimum without replacement for each position, K and T: O(V K M) with M nodes of integration.
// Source: derived here; the optimum is that of Hu et al., arXiv:2502.18779.
// Claimed: at every position and T the optimum does not fall as K grows.
struct AdaptiveDrafts {
  static constexpr std::string_view name = "adaptive_drafts";
  static constexpr std::string_view about =
      "a draft temperature chosen by the row of q, for drafts without replacement";
  static constexpr std::string_view source = "derived here, docs/findings/adaptive-drafts.md";

  static constexpr std::array temperatures{1.0, 0.7, 0.85, 1.2, 1.5, 2.0};  ///< at T = 1 drafts are drawn from q
  static constexpr int numbers[] = {2, 4, 8};
  static constexpr std::size_t groups = 4;

  /// Effort: positions of each source, spread over the source.
  static StudyResult run(const StudyOptions& options) {
    StudyResult result;
    result.document.data = {{"schema", "draftproof.study.adaptive_drafts/1"}, {"seed", options.seed}};
    Checks checks;
    study_positions(
        options, {"gaussian_logits:positions=64", "gaussian_logits:vocabulary=512,sigma=4,positions=64"},
        options.effort, result,
        [&](const Source& from, std::size_t i) {
          return measured(from.pair(i * from.positions() / positions_taken(from, options.effort)));
        },
        [&](const Source& from, const std::vector<Position>& at) {
          if (!result.complete) return;
          check(from, at, checks);
          write(from, at, result.document);
        });
    checks.report(result, "the optimum does not fall with more drafts, at every position and T");
    return result;
  }

 private:
  using Values = std::array<double, temperatures.size()>;
  struct Position {
    std::array<double, std::size(numbers)> feature;
    std::array<Values, std::size(numbers)> optimum;
  };

  static Position measured(const RowPair& pair) {
    Position made{};
    std::vector<double> ranked = pair.proposals.front();
    std::sort(ranked.begin(), ranked.end(), std::greater<>());
    for (std::size_t n = 0; n < std::size(numbers); ++n)
      for (std::size_t k = 0; k < std::min(static_cast<std::size_t>(numbers[n]), ranked.size()); ++k)
        made.feature[n] += ranked[k];
    for (std::size_t t = 0; t < temperatures.size(); ++t) {
      const RatioTable table(pair.target,
                             filtered_distribution(pair.proposals.front(), {.temperature = temperatures[t]}));
      for (std::size_t n = 0; n < std::size(numbers); ++n)
        made.optimum[n][t] = without_replacement_optimum(table, numbers[n]).acceptance;
    }
    return made;
  }

  /// Returns the index of the temperature with the greatest sum; among equals the first, so T = 1 before others.
  static std::size_t best(const Values& sum) {
    return static_cast<std::size_t>(std::max_element(sum.begin(), sum.end()) - sum.begin());
  }

  /// Returns the temperature of every position by the rule fitted on the other half of the positions.
  static std::vector<std::size_t> adapted(const std::vector<Position>& at, std::size_t n) {
    std::vector<std::size_t> chosen(at.size());
    for (const bool first_half : {true, false}) {
      const auto trains = [&](std::size_t i) { return (2 * i < at.size()) == first_half; };
      std::vector<double> features;
      for (std::size_t i = 0; i < at.size(); ++i)
        if (trains(i)) features.push_back(at[i].feature[n]);
      std::sort(features.begin(), features.end());
      const auto group = [&](std::size_t i) {
        std::size_t g = 0;
        while (g + 1 < groups && !features.empty() && at[i].feature[n] > features[(g + 1) * features.size() / groups])
          ++g;
        return g;
      };
      std::array<Values, groups> sum{};
      for (std::size_t i = 0; i < at.size(); ++i)
        if (trains(i))
          for (std::size_t t = 0; t < temperatures.size(); ++t) sum[group(i)][t] += at[i].optimum[n][t];
      for (std::size_t i = 0; i < at.size(); ++i)
        if (!trains(i)) chosen[i] = best(sum[group(i)]);
    }
    return chosen;
  }

  static void check(const Source& from, const std::vector<Position>& at, Checks& checks) {
    // Each of the two optima compared has an integration error of 1e-13 and V roundings.
    const double within = 2e-13 + static_cast<double>(from.vocabulary()) * 0x1p-51;
    for (std::size_t i = 0; i < at.size(); ++i)
      for (std::size_t n = 1; n < std::size(numbers); ++n)
        for (std::size_t t = 0; t < temperatures.size(); ++t)
          checks.at_most(at[i].optimum[n - 1][t], at[i].optimum[n][t], within, [&] {
            return fmt::format("{}, position {}, T = {}, K = {}", from.name(), i, temperatures[t], numbers[n]);
          });
  }

  static void write(const Source& from, const std::vector<Position>& at, Document& document) {
    Records records{
        {.title = fmt::format("{}: optimum without replacement by the draft's temperature", from.name()),
         .before = {size_line(from, at.size(), ", means; differences from T = 1 with their standard errors")}}};
    const auto count = static_cast<double>(at.size());
    for (std::size_t n = 0; n < std::size(numbers); ++n) {
      const auto chosen = adapted(at, n);
      Values sum{};
      double oracle = 0, gain = 0, squares = 0;
      for (std::size_t i = 0; i < at.size(); ++i) {
        const Values& value = at[i].optimum[n];
        for (std::size_t t = 0; t < temperatures.size(); ++t) sum[t] += value[t] / count;
        oracle += value[best(value)] / count;
        const double difference = value[chosen[i]] - value[0];
        gain += difference / count;
        squares += difference * difference / count;
      }
      const double error = std::sqrt(std::max(0.0, squares - gain * gain) / std::max(count - 1, 1.0));
      const double fixed = sum[best(sum)] - sum[0];
      records.add({number("K", "drafts", numbers[n]), datum("temperatures", temperatures), datum("optimum", sum),
                   number("T = 1", "", sum[0], "{:.4f}"),
                   cell("one T for all", fmt::format("{:+.4f} (T = {})", fixed, temperatures[best(sum)])),
                   cell("adaptive", fmt::format("{:+.4f} ±{:.4f}", gain, error)), datum("adaptive", sum[0] + gain),
                   datum("standard_error", error), number("oracle", "", oracle - sum[0], "{:+.4f}"),
                   datum("oracle", oracle)});
    }
    nlohmann::ordered_json entry = entry_of(from, at.size());
    records.write(document, entry, "numbers");
    document.data["sources"].push_back(std::move(entry));
  }
};

// Computes acceptance for drafts at temperatures from 1.0 to 2.4 with a target at temperature 1: the optimum, two-step
// selection, K-SEQ and recursive rejection, for K drafts of one temperature and for K drafts of temperatures spread
// over the range.
//
//   T            1.0 .. 2.4       temperature of a proposal: q_T = softmax(log q / T)
//   spread       T_1 .. T_K       evenly from 1.0 to 2.4, one draft of each; the optimum is bounded from both sides
//   two step     sum min(p_I, p), p_I the distribution of the draft selected by truncated_lp or truncated_alphabet: a
//                flow on the likeliest tokens, a ladder outside
//   rejection    1 - F, F the mass of p that K rounds of recursive rejection leave
//   ladder       the ladder of the mean proposal without the flow
//   tournament   sum min(L_K, p), L_K the distribution of the last winner
//
// Cost: K V for rejection; for selections a sort, K slopes a token for the ladder and for each of eight orders of its
// bins, and a flow over at most 1024 sets.
// Correctness: acceptances are sums over the plans of the schemes. The residual (p - p_I)+ has no mass on a rejected
// selected draft; another draft that the residual emits by chance is not counted.
// Source: the tables of Khisti et al., arXiv:2410.18234 (optimal, importance weighted, SpecTr, SpecInfer at
// temperatures 1.0 to 2.4). The sources here differ from theirs, so only the shape of the tables is the same. `two
// step` is a reconstruction of their importance-weighted scheme (docs/plans.md).
// Claimed: nothing is above the optimum. For one proposal rejection <= K-SEQ <= two step at every position, and
// acceptance does not fall as K grows. For several proposals the means of two step are at least those of rejection in
// both orders and do not fall as K grows; exceptions at single positions are reported and are not failures. A
// tournament of two drafts whose tokens are all inside its flow reaches the optimum.
struct DraftTemperatures {
  static constexpr std::string_view name = "draft_temperatures";
  static constexpr std::string_view about = "drafts hotter than the target: optimum, two step, K-SEQ and rejection";
  static constexpr std::string_view source = "Khisti et al., arXiv:2410.18234, tables over draft temperatures";

  static constexpr double temperatures[] = {1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.2, 2.4};
  static constexpr int numbers[] = {2, 4, 8};

  using Distribution = std::vector<double>;
  struct Scheme {
    std::string name;
    /// Acceptance of K drafts. A single proposal is shared by all drafts.
    std::function<double(const Distribution& target, const std::vector<Distribution>& proposals, int drafts)>
        acceptance;
  };

  /// Returns the schemes for drafts of one proposal, in descending order of acceptance.
  static std::vector<Scheme> schemes_of_one_proposal() {
    return {{"two step", two_step},
            {"K-SEQ", [](const Distribution& p, const std::vector<Distribution>& q,
                         int K) { return acceptance::k_seq(p, q.front(), K); }},
            {"rejection", [](const Distribution& p, const std::vector<Distribution>& q, int K) {
               return acceptance::recursive_rejection(p, q.front(), K);
             }}};
  }

  /// Returns the schemes for one draft of each proposal. The acceptance of rejection depends on the order of the
  /// proposals, so rejection is run in both directions.
  static std::vector<Scheme> schemes_of_several_proposals() {
    const auto rejection = [](const Distribution& p, const std::vector<Distribution>& q, int K) -> double {
      return 1 - verifiers::RecursiveRejectionIndependent{}.prepare(Rows<double>(p, q), K).mass.back();
    };
    const auto planned = [](auto scheme) {
      return [scheme](const Distribution& p, const std::vector<Distribution>& q, int K) {
        const Rows<double> rows(p, q);
        const auto plan = scheme.prepare(rows, K);
        double sum = 0;
        for (Token x = 0; x < rows.vocabulary(); ++x) sum += std::min(rows.target(x), plan.selected.of(x));
        return sum;
      };
    };
    return {{"two step", two_step},
            {"rejection", rejection},
            {"rejection, last first",
             [rejection](const Distribution& p, const std::vector<Distribution>& q, int K) {
               return rejection(p, {q.rbegin(), q.rend()}, K);
             }},
            {"ladder", planned(verifiers::LadderIndependent{})},
            {"tournament", planned(verifiers::Tournament{})}};
  }

  /// Effort: positions of each source.
  static StudyResult run(const StudyOptions& options) {
    return compare(options, schemes_of_one_proposal(), schemes_of_several_proposals());
  }

  static StudyResult compare(const StudyOptions& options, const std::vector<Scheme>& of_one,
                             const std::vector<Scheme>& of_several) {
    StudyResult result;
    result.document.data = {{"schema", "draftproof.study.draft_temperatures/1"}, {"seed", options.seed}};
    Checks checks;
    study_positions(
        options, {"zipf:positions=8", "gaussian_logits:positions=8", "zipf:vocabulary=32,positions=8"},
        options.effort, result,
        [&](const Source& from, std::size_t i) { return settings(from.pair(i), of_one, of_several); },
        [&](const Source& from, const std::vector<Settings>& at) {
          for (std::size_t i = 0; i < at.size(); ++i)
            for (const Setting& setting : at[i]) check(setting, at[i], from, i, checks);
          check_means(from, at, checks);
          write(from, at, result.document);
        });
    checks.report(result, "nothing above the optimum; two step >= K-SEQ >= rejection; more drafts never worse");
    return result;
  }

 private:
  /// Returns the acceptance of two-step selection with a flow on the likeliest tokens.
  static double two_step(const Distribution& target, const std::vector<Distribution>& proposals, int drafts) {
    const Rows<double> rows(target, proposals);
    const auto distinct = static_cast<int>(proposals.size());
    const int most = distinct == 1 ? verifiers::TruncatedLp{}.inside : verifiers::TruncatedAlphabet{}.inside;
    const Distribution selected = AlphabetPlan(rows, drafts, distinct, most).distribution;
    double sum = 0;
    for (std::size_t x = 0; x < target.size(); ++x) sum += std::min(target[x], selected[x]);
    return sum;
  }

  struct Setting {
    double temperature;  ///< 0: spread over the range
    int drafts;
    OptimumBounds optimum;
    std::vector<std::string> names;
    std::vector<double> acceptance;

    std::string label() const { return temperature > 0 ? fmt::format("{:.1f}", temperature) : "spread"; }
    /// Returns the acceptance of a scheme. Throws: std::out_of_range for a scheme that the setting lacks.
    double of(std::string_view scheme) const {
      return acceptance.at(static_cast<std::size_t>(std::find(names.begin(), names.end(), scheme) - names.begin()));
    }
  };
  using Settings = std::vector<Setting>;  ///< results of all settings at one position

  static Setting setting(double temperature, int drafts, const Distribution& target,
                         const std::vector<Distribution>& proposals, const std::vector<Scheme>& schemes) {
    const RatioTable table(target, proposals);
    Setting made{.temperature = temperature, .drafts = drafts, .optimum = {}, .names = {}, .acceptance = {}};
    const double optimum = temperature > 0 ? iid_optimum(table, drafts).acceptance : 0;
    made.optimum = temperature > 0 ? OptimumBounds{optimum, optimum} : independent_bounds(table, drafts);
    for (const Scheme& scheme : schemes) {
      made.names.push_back(scheme.name);
      made.acceptance.push_back(scheme.acceptance(target, proposals, drafts));
    }
    return made;
  }

  static Settings settings(const RowPair& pair, const std::vector<Scheme>& of_one,
                           const std::vector<Scheme>& of_several) {
    const auto at = [&pair](double t) { return filtered_distribution(pair.proposals.front(), {.temperature = t}); };
    Settings all;
    for (const double t : temperatures)
      for (const int drafts : numbers) all.push_back(setting(t, drafts, pair.target, {at(t)}, of_one));
    for (const int drafts : numbers) {
      std::vector<Distribution> proposals;
      const double first = std::begin(temperatures)[0], last = std::end(temperatures)[-1];
      for (int k = 0; k < drafts; ++k) proposals.push_back(at(first + (last - first) * k / (drafts - 1)));
      all.push_back(setting(0, drafts, pair.target, proposals, of_several));
    }
    return all;
  }

  static double tolerance(const Source& from, int drafts) {
    // A sum of V terms has an error of at most V 2^-53. Each round of rejection adds the errors of residual and mass,
    // so they double. A flow over at most 1024 sets falls short by less than 2^-52 per set (docs/plans.md).
    return std::ldexp(static_cast<double>(from.vocabulary()) + drafts, drafts + 1 - 53) + 1024 * 0x1p-52;
  }

  /// `all` are the settings of the same position.
  static void check(const Setting& setting, const Settings& all, const Source& from, std::size_t i, Checks& checks) {
    const auto at_most = [&](double value, double limit, std::string_view what) {
      checks.at_most(value, limit, tolerance(from, setting.drafts), [&] {
        return fmt::format("{}, position {}, T = {}, K = {}, {}", from.name(), i, setting.label(), setting.drafts,
                           what);
      });
    };
    for (std::size_t s = 0; s < setting.names.size(); ++s)
      at_most(setting.acceptance[s], setting.optimum.upper, setting.names[s]);
    if (setting.temperature > 0) {
      at_most(setting.of("rejection"), setting.of("K-SEQ"), "rejection above K-SEQ");
      at_most(setting.of("K-SEQ"), setting.of("two step"), "K-SEQ above two step");
      for (const Setting& other : all)
        if (other.temperature == setting.temperature && other.drafts < setting.drafts)
          at_most(other.of("two step"), setting.of("two step"), "two step below that of fewer drafts");
    } else if (setting.drafts == 2 && from.vocabulary() <= verifiers::Tournament{}.inside) {
      at_most(setting.optimum.lower, setting.of("tournament"), "tournament");
    }
  }

  static double mean(const std::vector<Settings>& at, std::size_t s, std::string_view scheme) {
    return mean_over(at, [&](const Settings& all) { return all[s].of(scheme); });
  }

  /// The positions where, in one setting, two step accepts less than rejection in the better of the two orders.
  struct Below {
    std::size_t positions = 0, worst = 0;  ///< number of these positions; position of the greatest difference
    double by = 0, optimum = 0;            ///< the greatest difference, and the optimum there
  };
  static Below below_rejection(const std::vector<Settings>& at, std::size_t s) {
    Below below;
    for (std::size_t i = 0; i < at.size(); ++i) {
      const Setting& setting = at[i][s];
      const double rejection = std::max(setting.of("rejection"), setting.of("rejection, last first"));
      const double by = rejection - setting.of("two step");
      if (!(by > 1e-12)) continue;  // far above rounding errors, far below the last printed digit
      ++below.positions;
      if (by > below.by) below = {below.positions, i, by, setting.optimum.upper};
    }
    return below;
  }

  static void check_means(const Source& from, const std::vector<Settings>& at, Checks& checks) {
    double fewer = 0;
    for (std::size_t s = 0; s < at.front().size(); ++s) {
      const Setting& setting = at.front()[s];
      if (setting.temperature > 0) continue;
      const double two_step = mean(at, s, "two step");
      const auto at_least = [&](double limit, std::string_view what) {
        checks.at_most(limit, two_step, tolerance(from, setting.drafts), [&] {
          return fmt::format("{}, means, T = spread, K = {}, {}", from.name(), setting.drafts, what);
        });
      };
      for (const char* rejection : {"rejection", "rejection, last first"})
        at_least(mean(at, s, rejection), fmt::format("{} above two step", rejection));
      at_least(fewer, "two step below that of fewer drafts");
      fewer = two_step;
    }
  }

  static void write(const Source& from, const std::vector<Settings>& at, Document& document) {
    nlohmann::ordered_json entry = entry_of(from, at.size());
    const auto records = [&](const char* what) {
      return Records{{.title = fmt::format("{}: {}", from.name(), what),
                      .before = {size_line(from, at.size(), ", means; the target is at temperature 1")}}};
    };
    Records one = records("K drafts of one proposal at temperature T");
    Records several = records("one draft of each of K temperatures from 1.0 to 2.4");
    for (std::size_t s = 0; s < at.front().size(); ++s) {
      const Setting& first = at.front()[s];
      const double lower = mean_over(at, [s](const Settings& all) { return all[s].optimum.lower; });
      const double upper = mean_over(at, [s](const Settings& all) { return all[s].optimum.upper; });
      // If the bounds on the optimum differ by at most half a unit of the last printed digit, only the upper is shown.
      const auto optimum =
          upper - lower <= 5e-5 ? fmt::format("{:.4f}", upper) : fmt::format("{:.4f} .. {:.4f}", lower, upper);
      std::vector<Field> row{word("T", "temperature", first.label()), number("K", "drafts", first.drafts),
                             cell("optimum", optimum), datum("optimum", {{"lower", lower}, {"upper", upper}})};
      nlohmann::ordered_json acceptance;
      for (const std::string& scheme : first.names) {
        const double value = mean(at, s, scheme);
        row.push_back(number(scheme, "", value, "{:.4f}"));
        acceptance[scheme] = value;
      }
      row.push_back(datum("acceptance", std::move(acceptance)));
      if (first.temperature == 0) {
        const Below below = below_rejection(at, s);
        nlohmann::ordered_json found{{"positions", below.positions}, {"by", below.by}};
        if (below.positions > 0) {
          found["worst"] = {{"position", below.worst}, {"optimum", below.optimum}};
          several.section.before.push_back(fmt::format(
              "  K = {}: at {} two step is below rejection in the better order, by {:.1e} at most, at position {}, "
              "where the optimum is {:.5f}",
              first.drafts, counted(below.positions, "position"), below.by, below.worst, below.optimum));
        }
        row.push_back(datum("below_rejection", std::move(found)));
      }
      (first.temperature > 0 ? one : several).add(row);
    }
    one.write(document, entry, "settings");
    several.write(document, entry, "settings");
    document.data["sources"].push_back(std::move(entry));
  }
};

}  // namespace draftproof::studies
