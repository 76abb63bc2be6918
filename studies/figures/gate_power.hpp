// The power of the statistical gate: the number of trials until it detects wrong programs and deviations of a given
// size, and that it accuses no correct verifier; at V = 32,000, with the alarm at e = 1e9.
//
//   exposure   trials until the alarm: a power of two; median and largest of several seeds
//   reference  the smallest power of two at which another implementation of the same e-values alarmed in each of
//              several runs, on a pair of the same kind (studies/wrong_programs.hpp)
//   pr, nightly  the budgets of the two profiles of `draftproof check`
//
// Claimed: every median is within 4 times its reference; every run detects a deviation of TV 1 % of each shape within
// the budget of pr, and of 0.1 % within that of nightly; no correct verifier is accused. The first two are claimed
// only on the standard pair and at full budgets.
#pragma once

#include <draftproof/captures/input_error.hpp>
#include <draftproof/properties/gate/sampled_position.hpp>
#include <draftproof/report/text.hpp>
#include <draftproof/studies/alarm_exposures.hpp>
#include <draftproof/studies/checks.hpp>
#include <draftproof/studies/deviation_shapes.hpp>
#include <draftproof/studies/right_verifiers.hpp>
#include <draftproof/studies/wrong_programs.hpp>

namespace draftproof::studies {

struct GatePower {
  static constexpr std::string_view name = "gate_power";
  static constexpr std::string_view about = "after how many trials the statistical gate sees what is wrong";
  static constexpr std::string_view source = "derived here; e-values of docs/statistics.md";

  static constexpr double program_budget = 24;  ///< log2
  static constexpr int runs = 5, nightly_runs = 3;

  /// References belong to the standard pair: on other pairs there are none, and at smaller budgets nothing is
  /// claimed.
  enum class References { none, stated, compared };

  /// Effort: log2 of the largest budget.
  static StudyResult run(const StudyOptions& options) {
    return measure(options, wrong_programs,
                   !options.sources.empty() ? References::none
                   : options.effort > 0     ? References::stated
                                            : References::compared);
  }

  template <class Programs>
  static StudyResult measure(const StudyOptions& options, Programs&& programs, References references) {
    if (options.effort > 32)
      throw InputError({.file = "--effort", .found = std::to_string(options.effort), .wanted = "log2, at most 32"});
    const std::vector<Source> sources = open_sources(options, {standard_source(32'000, 1)});
    StudyResult result;
    result.document.data = {{"schema", "draftproof.study.gate_power/1"}, {"seed", options.seed}};
    Checks checks;
    for (const Source& from : sources) {
      const RowPair pair = from.pair(0);
      const RatioTable table(pair.target, pair.proposals);
      std::vector<PowerRow> wrong = program_rows(programs(pair, table), options), shaped = shape_rows(table, options),
                            right = right_rows(options);
      if (references == References::none) {
        for (PowerRow& row : wrong) row.distance.clear();
        for (auto* rows : {&wrong, &shaped})
          for (PowerRow& row : *rows) row.reference = std::nan("");
      }
      std::vector<PowerRow> all;
      for (const auto* rows : {&wrong, &shaped}) all.insert(all.end(), rows->begin(), rows->end());
      std::uint64_t jobs = right.size();
      for (const PowerRow& row : all) jobs += static_cast<std::uint64_t>(row.runs);
      Meter meter(options, jobs);
      if (!measure_exposures(all, table, options, meter)) {
        result.complete = false;
        break;
      }
      std::move(all.begin(), all.begin() + std::ssize(wrong), wrong.begin());
      std::move(all.begin() + std::ssize(wrong), all.end(), shaped.begin());
      nlohmann::ordered_json entry{{"source", from.name()}, {"about", from.describe()}};
      write("wrong programs", "programs", wrong, from, entry, result.document);
      write("deviations of p, by shape; no path law", "shapes", shaped, from, entry, result.document);
      if (!leave_alone(right, table, options, from, meter, checks, entry, result)) break;
      if (references == References::compared) {
        for (const PowerRow& row : wrong) compare(row, checks);
        for (const PowerRow& row : shaped) compare(row, checks);
      }
      result.document.data["sources"].push_back(std::move(entry));
    }
    checks.report(result, "medians within 4 times the reference; shapes within the budgets; right verifiers pass");
    return result;
  }

 private:
  static std::vector<PowerRow> program_rows(const std::vector<WrongProgram>& programs, const StudyOptions& options) {
    std::vector<PowerRow> rows;
    for (const WrongProgram& program : programs)
      rows.push_back({.about = std::string(program.about),
                      .verifier = program.verifier,
                      .imitates = program.imitates,
                      .drafter = program.drafter,
                      .drafts = program.drafts,
                      .reference = program.reference,
                      .distance = std::string(program.distance),
                      .log2_budget = capped(program_budget, options),
                      .runs = runs});
    return rows;
  }

  static std::vector<PowerRow> shape_rows(const RatioTable& table, const StudyOptions& options) {
    std::vector<PowerRow> rows;
    for (const auto& [profile, distance, times] :
         {std::tuple{profiles[0], 1e-2, runs}, std::tuple{profiles[1], 1e-3, nightly_runs}})
      for (const ShapeReference& shape : deviation_shapes)
        rows.push_back({.about = fmt::format("{}, {}", profile.name, shape.about),
                        .verifier = emitter_of(deviating_law(shape.shape, table, distance, options.seed)),
                        .imitates = {},
                        .drafter = "iid",
                        .drafts = 1,
                        .reference = distance == 1e-3 ? shape.reference : std::nan(""),
                        .distance = fmt::format("{:.0e}", distance),
                        .log2_budget = capped(profile.log2_trials, options),
                        .runs = times});
    return rows;
  }

  static void compare(const PowerRow& row, Checks& checks) {
    const auto what = [&row](const char* of) { return fmt::format("{}, log2 of the {}", row.about, of); };
    if (!std::isnan(row.reference))
      checks.at_most(row.median(), row.reference + 2, 0, [&] { return what("median"); });
    if (row.imitates.empty()) checks.at_most(row.largest(), row.log2_budget, 0, [&] { return what("largest"); });
  }

  static void write(std::string_view title, const char* key, const std::vector<PowerRow>& rows, const Source& from,
                    nlohmann::ordered_json& entry, Document& document) {
    Section section{.title = fmt::format("{}: {}", from.name(), title),
                    .before = {"  trials until e = 1e9, V = " + grouped(from.vocabulary())},
                    .table = {{{"what"},
                               {"K", true},
                               {"TV", true},
                               {"median", true},
                               {"largest", true},
                               {"runs", true},
                               {"reference", true},
                               {"ratio", true}},
                              {}}};
    for (const PowerRow& row : rows) {
      const bool known = !std::isnan(row.reference), seen = std::isfinite(row.median());
      section.table.rows.push_back(
          {{row.about},
           {std::to_string(row.drafts)},
           {row.distance},
           {power_of_two_text(row.median())},
           {power_of_two_text(row.largest())},
           {std::to_string(row.runs)},
           {known ? power_of_two_text(row.reference) : ""},
           {known && seen ? fmt::format("{:.2g}", std::exp2(row.median() - row.reference)) : ""}});
      nlohmann::ordered_json item{{"about", row.about},
                                  {"imitates", row.imitates},
                                  {"drafter", row.drafter},
                                  {"drafts", row.drafts},
                                  {"distance", row.distance},
                                  {"log2_budget", row.log2_budget},
                                  {"log2_exposures", row.log2_exposures}};
      item["log2_reference"] = known ? nlohmann::ordered_json(row.reference) : nlohmann::ordered_json();
      entry[key].push_back(std::move(item));
    }
    document.sections.push_back(std::move(section));
  }
};

}  // namespace draftproof::studies
