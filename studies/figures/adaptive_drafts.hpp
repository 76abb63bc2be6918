// Whether a temperature of the draft that depends on its row alone accepts more: drafts without replacement from
// q^(1/T), T chosen by how much of q its K likeliest tokens hold.
//
//   T           .7 .. 2           temperature of the drafts; the ladder serves any of them, as it is told their law
//   c(q)        feature           q-mass of the K likeliest tokens
//   adaptive    T by c(q)         positions in four groups of equal size by c(q); each group takes the T that is best on
//                                 average in that group of the other half of the positions
//   oracle      T by position     the best T of each position, which depends on p: an upper bound of such rules
//
// Cost: an optimum without replacement for each position, K and T: O(V K M), M nodes.
// Source: derived here; the optimum is that of Hu et al., arXiv:2502.18779.
// Claimed: at every position and T more drafts have no lower an optimum.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <draftproof/captures/filter.hpp>
#include <draftproof/optimum/exponential_clocks.hpp>
#include <draftproof/report/text.hpp>
#include <draftproof/studies/checks.hpp>
#include <draftproof/studies/positions.hpp>

namespace draftproof::studies {

struct AdaptiveDrafts {
  static constexpr std::string_view name = "adaptive_drafts";
  static constexpr std::string_view about =
      "a draft temperature chosen by the row of q, for drafts without replacement";
  static constexpr std::string_view source = "derived here, docs/findings/adaptive-drafts.md";

  static constexpr std::array temperatures{1.0, 0.7, 0.85, 1.2, 1.5, 2.0};  ///< the first is the plain law
  static constexpr int numbers[] = {2, 4, 8};
  static constexpr std::size_t groups = 4;

  /// Effort: positions of each source, spread over it.
  static StudyResult run(const StudyOptions& options) {
    const std::vector<Source> sources = open_sources(
        options, {"gaussian_logits:positions=64", "gaussian_logits:vocabulary=512,sigma=4,positions=64"});
    StudyResult result;
    result.document.data = {{"schema", "draftproof.study.adaptive_drafts/1"}, {"seed", options.seed}};
    Meter meter(options, positions_taken(sources, options.effort));
    Checks checks;
    for (const Source& from : sources) {
      const std::size_t count = positions_taken(from, options.effort);
      const auto at = finished_positions(
          options, count, meter, [&](std::size_t i) { return measured(from.pair(i * from.positions() / count)); });
      result.complete = at.size() == count;
      if (!result.complete) return result;
      check(from, at, checks);
      write(from, at, result.document);
    }
    checks.report(result, "more drafts have no lower an optimum, at every position and T");
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
      for (int k = 0; k < std::min(numbers[n], static_cast<int>(ranked.size())); ++k)
        made.feature[n] += ranked[static_cast<std::size_t>(k)];
    for (std::size_t t = 0; t < temperatures.size(); ++t) {
      const RatioTable table(pair.target, filtered_law(pair.proposals.front(), {.temperature = temperatures[t]}));
      for (std::size_t n = 0; n < std::size(numbers); ++n)
        made.optimum[n][t] = without_replacement_optimum(table, numbers[n]).acceptance;
    }
    return made;
  }

  /// Index of the temperature with the greatest sum; the plain law's among equals.
  static std::size_t best(const Values& sum) {
    return static_cast<std::size_t>(std::max_element(sum.begin(), sum.end()) - sum.begin());
  }

  /// The temperature of every position by the rule of the other half.
  static std::vector<std::size_t> adapted(const std::vector<Position>& at, std::size_t n) {
    std::vector<std::size_t> chosen(at.size());
    for (const int half : {0, 1}) {
      const auto learns = [&](std::size_t i) { return (2 * i < at.size()) == (half == 0); };
      std::vector<double> features;
      for (std::size_t i = 0; i < at.size(); ++i)
        if (learns(i)) features.push_back(at[i].feature[n]);
      std::sort(features.begin(), features.end());
      const auto group = [&](std::size_t i) {
        std::size_t g = 0;
        while (g + 1 < groups && !features.empty() && at[i].feature[n] > features[(g + 1) * features.size() / groups])
          ++g;
        return g;
      };
      std::array<Values, groups> sum{};
      for (std::size_t i = 0; i < at.size(); ++i)
        if (learns(i))
          for (std::size_t t = 0; t < temperatures.size(); ++t) sum[group(i)][t] += at[i].optimum[n][t];
      for (std::size_t i = 0; i < at.size(); ++i)
        if (!learns(i)) chosen[i] = best(sum[group(i)]);
    }
    return chosen;
  }

  static void check(const Source& from, const std::vector<Position>& at, Checks& checks) {
    // Twice the integral's error of 1e-13, and V roundings each.
    const double within = 2e-13 + static_cast<double>(from.vocabulary()) * 0x1p-51;
    for (std::size_t i = 0; i < at.size(); ++i)
      for (std::size_t n = 1; n < std::size(numbers); ++n)
        for (std::size_t t = 0; t < temperatures.size(); ++t)
          checks.at_most(at[i].optimum[n - 1][t], at[i].optimum[n][t], within, [&] {
            return fmt::format("{}, position {}, T = {}, K = {}", from.name(), i, temperatures[t], numbers[n]);
          });
  }

  static void write(const Source& from, const std::vector<Position>& at, Document& document) {
    Section section{.title = fmt::format("{}: optimum without replacement by the draft's temperature", from.name()),
                    .before = {fmt::format("  V = {}, {}, means; differences from T = 1 with their standard errors",
                                           grouped(from.vocabulary()), counted(at.size(), "position"))},
                    .table = {}};
    section.table.columns = {
        {"K", true}, {"T = 1", true}, {"one T for all", true}, {"adaptive", true}, {"oracle", true}};
    nlohmann::ordered_json entry{{"source", from.name()}, {"about", from.describe()}, {"positions", at.size()}};
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
      section.table.rows.push_back({{std::to_string(numbers[n])},
                                    {fmt::format("{:.4f}", sum[0])},
                                    {fmt::format("{:+.4f} (T = {})", fixed, temperatures[best(sum)])},
                                    {fmt::format("{:+.4f} ±{:.4f}", gain, error)},
                                    {fmt::format("{:+.4f}", oracle - sum[0])}});
      entry["numbers"].push_back({{"drafts", numbers[n]},
                                  {"temperatures", temperatures},
                                  {"optimum", sum},
                                  {"adaptive", sum[0] + gain},
                                  {"standard_error", error},
                                  {"oracle", oracle}});
    }
    document.data["sources"].push_back(std::move(entry));
    document.sections.push_back(std::move(section));
  }
};

}  // namespace draftproof::studies
