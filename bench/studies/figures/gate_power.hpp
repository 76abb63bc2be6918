// The power of the statistical gate at V = 32,000, with the alarm at e = 1e9. The study measures how many trials the
// gate needs to detect wrong programs and deviations of a given size, and the e-values of correct verifiers, which must
// stay below the alarm.
//
//   exposure   planned trials of the batches that ran until e reached 1e9, a power of two, because batches double from
//              16. Median and largest of several seeds; a run without an alarm counts as infinite
//   reference  the smallest power of two at which another implementation of the same e-values alarmed in each of
//              several runs, on a pair of the same kind (bench/studies/wrong_programs.hpp)
//   pr, nightly  the budgets of the two profiles of `draftproof check`
//
// The correct verifiers are the schemes whose joint distribution of (accepted draft, token), the "path distribution",
// is known. Each is run at the budget of pr and, with timings, also at the budget of nightly. Times are wall-clock and
// processor times.
//
// Claimed: every median is within 4 times its reference; every run detects a deviation of TV 1 % of each shape within
// the budget of pr, and a deviation of 0.1 % within the budget of nightly; no correct verifier raises an alarm. The
// first two claims hold only on the standard pair and at full budgets.
#pragma once

#include <chrono>
#include <ctime>
#include <limits>

#include <draftproof/bench/studies/positions.hpp>
#include <draftproof/bench/studies/wrong_programs.hpp>
#include <draftproof/properties/gate/gate.hpp>
#include <draftproof/properties/gate/sampled_gate.hpp>
#include <draftproof/properties/gate/sampled_position.hpp>
#include <draftproof/properties/simulation/joint_distribution.hpp>

namespace draftproof::studies {

struct GatePower {
  static constexpr std::string_view name = "gate_power";
  static constexpr std::string_view about =
      "number of trials after which the statistical gate detects wrong programs";
  static constexpr std::string_view source = "derived here; e-values of docs/statistics.md";

  static constexpr double program_budget = 24;  ///< log2 of the budget
  static constexpr int runs = 5, nightly_runs = 3;

  /// References exist for the standard pair only. At smaller budgets they are printed, but not compared with the
  /// results.
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
    limit_effort(options, 32, "log2, at most 32");
    const std::vector<Source> sources = open_sources(options, {standard_source(32'000, 1)});
    StudyResult result;
    result.document.data = {{"schema", "draftproof.study.gate_power/1"}, {"seed", options.seed}};
    Checks checks;
    for (const Source& from : sources) {
      const RowPair pair = from.pair(0);
      const RatioTable table(pair.target, pair.proposals);
      std::vector<PowerRow> rows = programs(pair, table);
      const std::size_t wrong = rows.size();
      for (PowerRow& row : rows) {
        row.log2_budget = capped(program_budget, options);
        row.runs = runs;
        if (references == References::none) row.distance.clear();
      }
      add_shapes(rows, table, options);
      if (references == References::none)
        for (PowerRow& row : rows) row.reference = std::nan("");
      const std::vector<PowerRow> right = right_rows(options);
      std::uint64_t jobs = right.size();
      for (const PowerRow& row : rows) jobs += static_cast<std::uint64_t>(row.runs);
      Meter meter(options, jobs);
      if (!measure_exposures(rows, table, options, meter)) {
        result.complete = false;
        break;
      }
      nlohmann::ordered_json entry{{"source", from.name()}, {"about", from.describe()}};
      const std::span all(rows);
      write("wrong programs", "programs", all.first(wrong), from, entry, result.document);
      write("deviations of p, by shape; no path distribution", "shapes", all.subspan(wrong), from, entry,
            result.document);
      if (!leave_alone(right, table, options, from, meter, checks, entry, result)) break;
      if (references == References::compared)
        for (const PowerRow& row : rows) compare(row, checks);
      result.document.data["sources"].push_back(std::move(entry));
    }
    checks.report(result, "medians within 4 times the reference; shapes within the budgets; right verifiers pass");
    return result;
  }

  /// Returns "2^12", "2^27.5", or "-" for infinity.
  static std::string power_of_two_text(double log2) {
    if (!std::isfinite(log2)) return "-";
    const double tenths = std::round(10 * log2) / 10;
    return tenths == std::round(tenths) ? fmt::format("2^{:.0f}", tenths) : fmt::format("2^{:.1f}", tenths);
  }

 private:
  /// Returns the smaller of budget and effort, both as log2; effort 0: the budget.
  static double capped(double log2, const StudyOptions& options) {
    return options.effort > 0 ? std::min(log2, static_cast<double>(options.effort)) : log2;
  }

  static void add_shapes(std::vector<PowerRow>& rows, const RatioTable& table, const StudyOptions& options) {
    for (const auto& [profile, distance, times] :
         {std::tuple{profiles[0], 1e-2, runs}, std::tuple{profiles[1], 1e-3, nightly_runs}})
      for (const ShapeReference& shape : deviation_shapes)
        rows.push_back({.about = fmt::format("{}, {}", profile.name, shape.about),
                        .verifier = emitter_of(deviating_distribution(shape.shape, table, distance, options.seed)),
                        .imitates = {},
                        .drafter = "iid",
                        .drafts = 1,
                        .reference = distance == 1e-3 ? shape.reference : std::nan(""),
                        .distance = fmt::format("{:.0e}", distance),
                        .log2_budget = capped(profile.log2_trials, options),
                        .runs = times});
  }

  /// Returns the rows of the schemes whose joint distribution of (accepted draft, token) is known.
  static std::vector<PowerRow> right_rows(const StudyOptions& options) {
    std::vector<PowerRow> rows;
    for (const JointDistribution& distribution : known_joint_distributions().all()) {
      const AnyVerifier* verifier = registry().verifier(distribution.verifier);
      const int most = verifier->info().most_drafts;
      rows.push_back({.about = std::string(distribution.verifier),
                      .verifier = {std::shared_ptr<void>(), verifier},
                      .imitates = {},
                      .drafter = distribution.drafts.names[0],
                      .drafts = most > 0 ? std::min(most, 4) : 4,
                      .reference = std::nan(""),
                      .distance = "0",
                      .log2_budget = capped(profiles[0].log2_trials, options)});
    }
    return rows;
  }

  static auto gate(const PowerRow& row, const RatioTable& table, SampledGateOptions how) {
    how.alpha = 1e-9;
    return sampled_gate(*row.verifier, *registry().drafter(row.drafter), table, table, row.drafts, how);
  }

  /// Returns log2 of the exposure at the alarm; infinity without an alarm.
  static double log2_exposure_at_alarm(const PowerRow& row, const RatioTable& table, std::uint64_t seed,
                                       const StudyOptions& options) {
    const auto verdict = gate(row, table,
                              {.trials = std::exp2(row.log2_budget),
                               .seed = seed,
                               .threads = 1,
                               .stop = options.stop,
                               .imitates = row.imitates,
                               .first_batch = 16});
    const bool seen = verdict.state == GateState::failed || verdict.impossible > 0;
    return seen ? std::log2(static_cast<double>(verdict.exposure)) : std::numeric_limits<double>::infinity();
  }

  /// Measures the exposures of all rows, longest budgets first, each run on one thread; returns false after a stop.
  static bool measure_exposures(std::vector<PowerRow>& rows, const RatioTable& table, const StudyOptions& options,
                                Meter& meter) {
    struct Job {
      PowerRow* row;
      int run;
      double cost() const { return std::isnan(row->reference) ? row->log2_budget : row->reference; }
    };
    std::vector<Job> jobs;
    for (PowerRow& row : rows)
      for (int run = 0; run < row.runs; ++run) jobs.push_back({&row, run});
    std::stable_sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) { return a.cost() > b.cost(); });
    const auto found = finished_positions(options, jobs.size(), meter, [&](std::size_t j) {
      return log2_exposure_at_alarm(*jobs[j].row, table, options.seed + static_cast<std::uint64_t>(jobs[j].run),
                                    options);
    });
    if (found.size() < jobs.size()) return false;
    for (std::size_t j = 0; j < jobs.size(); ++j) jobs[j].row->log2_exposures.push_back(found[j]);
    for (PowerRow& row : rows) std::sort(row.log2_exposures.begin(), row.log2_exposures.end());
    return true;
  }

  static void compare(const PowerRow& row, Checks& checks) {
    const auto what = [&row](const char* of) { return fmt::format("{}, log2 of the {}", row.about, of); };
    if (!std::isnan(row.reference))
      checks.at_most(row.median(), row.reference + 2, 0, [&] { return what("median"); });
    if (row.imitates.empty()) checks.at_most(row.largest(), row.log2_budget, 0, [&] { return what("largest"); });
  }

  static void write(std::string_view title, const char* key, std::span<const PowerRow> rows, const Source& from,
                    nlohmann::ordered_json& entry, Document& document) {
    Records records{{.title = fmt::format("{}: {}", from.name(), title),
                     .before = {"  trials until e = 1e9, V = " + grouped(from.vocabulary())}}};
    for (const PowerRow& row : rows) {
      const bool known = !std::isnan(row.reference), seen = std::isfinite(row.median());
      records.add(
          {word("what", "about", row.about), datum("imitates", row.imitates), datum("drafter", row.drafter),
           number("K", "drafts", row.drafts), cell("TV", row.distance), datum("distance", row.distance),
           datum("log2_budget", row.log2_budget), datum("log2_exposures", row.log2_exposures),
           cell("median", power_of_two_text(row.median())), cell("largest", power_of_two_text(row.largest())),
           number("runs", "", row.runs), cell("reference", known ? power_of_two_text(row.reference) : ""),
           cell("ratio", known && seen ? fmt::format("{:.2g}", std::exp2(row.median() - row.reference)) : ""),
           datum("log2_reference", known ? nlohmann::ordered_json(row.reference) : nlohmann::ordered_json())});
    }
    records.write(document, entry, key);
  }

  /// Runs correct verifiers one after another, each with all threads. Returns false after a stop.
  static bool leave_alone(const std::vector<PowerRow>& rows, const RatioTable& table, const StudyOptions& options,
                          const Source& from, Meter& meter, Checks& checks, nlohmann::ordered_json& entry,
                          StudyResult& result) {
    Records records{{.title = fmt::format("{}: right verifiers", from.name())}};
    for (const PowerRow& row : rows) {
      std::vector<double> budgets{row.log2_budget};
      if (options.timings) budgets.push_back(capped(profiles[1].log2_trials, options));
      for (const double budget : budgets) {
        const auto start = std::chrono::steady_clock::now();
        const std::clock_t processors = std::clock();
        const auto verdict = gate(
            row, table,
            {.trials = std::exp2(budget), .seed = options.seed, .threads = options.threads, .stop = options.stop});
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        const double of_processors = static_cast<double>(std::clock() - processors) / CLOCKS_PER_SEC;
        if (result.stopped(options)) return false;
        checks.at_most(verdict.log_e, std::log(1e9), 0, [&row] { return row.about + ", log e"; });
        std::vector<Field> record{word("verifier", "verifier", row.about),
                                  word("drafts", "drafter", row.drafter),
                                  number("K", "drafts", row.drafts),
                                  cell("trials", power_of_two_text(budget)),
                                  datum("log2_trials", budget),
                                  word("word", "word", draftproof::name(verdict.state)),
                                  number("e", "", std::exp(verdict.log_e), "{:.2g}")};
        if (options.timings)
          for (const Field& field : {number("seconds", "seconds", seconds, "{:.1f}"),
                                     number("processor seconds", "processor_seconds", of_processors, "{:.1f}"),
                                     number("million a processor second", "",
                                            1e-6 * static_cast<double>(verdict.trials) / of_processors, "{:.1f}")})
            record.push_back(field);
        records.add(record);
      }
      meter.add(1);
    }
    records.write(result.document, entry, "right");
    return true;
  }
};

}  // namespace draftproof::studies
