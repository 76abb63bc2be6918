// Correct verifiers under the statistical gate: those whose path law is known, each at the budget of the pr profile
// and, with timings, also at that of nightly. None may be accused. Times are wall-clock and processor times.
#pragma once

#include <chrono>
#include <ctime>

#include <draftproof/properties/gate/gate.hpp>
#include <draftproof/properties/simulation/joint_law.hpp>
#include <draftproof/studies/alarm_exposures.hpp>
#include <draftproof/studies/checks.hpp>

namespace draftproof {

/// Rows of the schemes whose path law is known.
inline std::vector<PowerRow> right_rows(const StudyOptions& options) {
  std::vector<PowerRow> rows;
  for (const JointLaw& law : known_joint_laws().all()) {
    const AnyVerifier* verifier = registry().verifier(law.verifier);
    const int most = verifier->info().most_drafts;
    rows.push_back({.about = std::string(law.verifier),
                    .verifier = {std::shared_ptr<void>(), verifier},
                    .imitates = {},
                    .drafter = law.drafts.names[0],
                    .drafts = most > 0 ? std::min(most, 4) : 4,
                    .reference = std::nan(""),
                    .distance = "0",
                    .log2_budget = capped(profiles[0].log2_trials, options),
                    .runs = 1});
  }
  return rows;
}

/// Runs correct verifiers at the pr budget, with `timings` also at the nightly one, with all threads on each. Returns
/// false after a stop.
inline bool leave_alone(const std::vector<PowerRow>& rows, const RatioTable& table, const StudyOptions& options,
                        const Source& from, Meter& meter, Checks& checks, nlohmann::ordered_json& entry,
                        StudyResult& result) {
  Section section{.title = fmt::format("{}: right verifiers", from.name()),
                  .table = {{{"verifier"}, {"drafts"}, {"K", true}, {"trials", true}, {"word"}, {"e", true}}, {}}};
  if (options.timings)
    for (const char* column : {"seconds", "processor seconds", "million a processor second"})
      section.table.columns.push_back({column, true});
  for (const PowerRow& row : rows) {
    std::vector<double> budgets{row.log2_budget};
    if (options.timings) budgets.push_back(capped(profiles[1].log2_trials, options));
    for (const double budget : budgets) {
      const auto start = std::chrono::steady_clock::now();
      const std::clock_t processors = std::clock();
      const auto verdict = sampled_gate(*row.verifier, *registry().drafter(row.drafter), table, table, row.drafts,
                                        {.trials = std::exp2(budget),
                                         .alpha = 1e-9,
                                         .seed = options.seed,
                                         .threads = options.threads,
                                         .stop = options.stop});
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      const double of_processors = static_cast<double>(std::clock() - processors) / CLOCKS_PER_SEC;
      if (options.stopped()) return result.complete = false;
      checks.at_most(verdict.log_e, std::log(1e9), 0, [&row] { return row.about + ", log e"; });
      section.table.rows.push_back({{row.about},
                                    {std::string(row.drafter)},
                                    {std::to_string(row.drafts)},
                                    {power_of_two_text(budget)},
                                    {std::string(name(verdict.state))},
                                    {fmt::format("{:.2g}", std::exp(verdict.log_e))}});
      nlohmann::ordered_json item{{"verifier", row.about},
                                  {"drafter", row.drafter},
                                  {"drafts", row.drafts},
                                  {"log2_trials", budget},
                                  {"word", name(verdict.state)}};
      if (options.timings) {
        for (const double value :
             {seconds, of_processors, 1e-6 * static_cast<double>(verdict.trials) / of_processors})
          section.table.rows.back().push_back({fmt::format("{:.1f}", value)});
        item["seconds"] = seconds;
        item["processor_seconds"] = of_processors;
      }
      entry["right"].push_back(std::move(item));
    }
    meter.add(1);
  }
  result.document.sections.push_back(std::move(section));
  return true;
}

}  // namespace draftproof
