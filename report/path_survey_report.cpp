#include <draftproof/report/path_survey_report.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <draftproof/report/proof_report.hpp>
#include <draftproof/report/survey_rows.hpp>
#include <draftproof/report/text.hpp>

namespace draftproof {

namespace {

Cell verdict_of(const PathProof* proof, const StepRow& row) {
  if (row.oracle) return {"by its plan", Tone::good};
  return verdict_cell(proof, row.verifier->info());
}

/// Whether a scheme with state ran for one step a trial. Its first step accepts more than those that follow, so the row is
/// not comparable with those of other schemes.
bool first_step_alone(const StepRow& row) { return row.verifier->stateful() && row.tally.steps == row.tally.trials; }

Section section_of(const SurveyedPaths& item, const LawRows<StepRow>& law, std::span<const PathProof> proofs,
                   bool several) {
  const std::string at = several ? fmt::format(", L = {}", item.length) : "";
  Section section{.title = fmt::format("{}, tree law {}{}", item.source->name(), law.drafter->info().name, at),
                  .before = {std::string(law.drafter->info().summary)}};
  section.table.columns = {{"verifier"},
                           {"K", true},
                           {"exact?"},
                           {"accepted", true},
                           {"block efficiency", true},
                           {"at least 1", true},
                           {"all drafted", true},
                           {"optimum", true},
                           {"full information", true},
                           {"us/step", true}};
  std::vector<const StepRow*> rows = law.rows;
  std::stable_partition(rows.begin(), rows.end(), [](const StepRow* row) { return !first_step_alone(*row); });
  for (const StepRow* row : rows) {
    const StepTally& tally = row->tally;
    const std::string name(row->verifier->info().name);
    if (first_step_alone(*row))
      section.after.push_back(
          row_note(*row,
                   " carries state and ran one step a trial: later steps accept less. Not ranked; "
                   "survey it on a running model"));
    section.table.rows.push_back({{first_step_alone(*row) ? name + ", first step" : name,
                                   row->verifier->kind() == Kind::mutant ? Tone::bad : Tone::plain},
                                  {std::to_string(row->drafts)},
                                  verdict_of(proof_of(proofs, *row), *row),
                                  {fmt::format("{:.4f} ±{:.4f}", tally.mean_accepted(), tally.standard_error())},
                                  {fmt::format("{:.4f}", tally.block_efficiency())},
                                  {fmt::format("{:.4f}", tally.at_least(1))},
                                  {fmt::format("{:.4f}", tally.at_least(item.length))},
                                  {row->optimum ? fmt::format("{:.4f}", *row->optimum) : "-"},
                                  {row->full_information ? fmt::format("{:.4f}", *row->full_information) : "-"},
                                  {fmt::format("{:.2f}", row->microseconds_per_step()), Tone::faint}});
    if (tally.impossible > 0)
      section.after.push_back(
          row_note(*row, " reached a branch of probability zero in " + counted(tally.impossible, "step")));
  }
  return section;
}

nlohmann::ordered_json row_data(const StepRow& row, const PathProof* proof, int length, bool timings) {
  const StepTally& tally = row.tally;
  nlohmann::ordered_json data{{"verifier", row.verifier->info().name},
                              {"law", row.drafter->info().name},
                              {"drafts", row.drafts},
                              {"length", length},
                              {"verdict", verdict_of(proof, row).text},
                              {"trials", tally.trials},
                              {"steps", tally.steps},
                              {"mean_accepted", tally.mean_accepted()},
                              {"standard_error", tally.standard_error()},
                              {"block_efficiency", tally.block_efficiency()},
                              {"impossible", tally.impossible}};
  data["accepted"] = std::vector<std::uint64_t>(tally.accepted.begin(), tally.accepted.begin() + length + 1);
  if (first_step_alone(row)) data["first_step_alone"] = true;
  if (row.optimum) data["optimum"] = *row.optimum;
  if (row.full_information) data["full_information"] = *row.full_information;
  if (timings) data["microseconds_per_step"] = row.microseconds_per_step();
  return data;
}

}  // namespace

Document report_path_survey(std::span<const SurveyedPaths> surveyed, std::span<const PathProof> proofs,
                            const PathSurveyOptions& options, bool complete, bool timings) {
  Document document;
  auto& data = document.data;
  data = {{"schema", "draftproof.survey-paths/2"}, {"seed", options.seed}};
  const bool several = std::any_of(surveyed.begin(), surveyed.end(),
                                   [&](const auto& item) { return item.length != surveyed[0].length; });
  if (!several) data["length"] = options.length;
  data["complete"] = complete;
  for (const SurveyedPaths& item : surveyed) {
    nlohmann::ordered_json entry{{"source", item.source->name()},
                                 {"about", item.source->describe()},
                                 {"rows", nlohmann::ordered_json::array()}};
    document.sections.push_back(
        {.title = item.source->name(),
         .before = {"  " + item.source->summary() +
                    fmt::format("; paths of {}", counted(static_cast<std::uint64_t>(item.length), "token")) +
                    (complete ? "" : " (stopped early)")}});
    const auto ran = [](const StepRow& row) { return row.tally.steps > 0; };
    for (const StepRow& row : item.rows)
      if (ran(row)) entry["rows"].push_back(row_data(row, proof_of(proofs, row), item.length, timings));
    for (const auto& law : rows_by_law(item.rows, ran, [](const StepRow& row) { return row.tally.mean_accepted(); }))
      document.sections.push_back(section_of(item, law, proofs, several));
    data["sources"].push_back(std::move(entry));
  }
  add_proofs(document, proofs, timings);
  document.sections.push_back(
      {.title = "",
       .before = {
           "exact?: what is emitted has the target's law, in fractions, on that many toy models;",
           "by its plan: a feasible plan over all trees, checked in fractions, as the oracle has, is a lossless "
           "scheme.",
           "accepted: drafted tokens accepted in a step, the extra token not counted, ± its standard error.",
           "block efficiency: emitted tokens per call of the target. optimum: the most any lossless scheme of one",
           "iteration accepts; full information: one that also knew the target's next block; - with too many trees.",
           "us/step: processor time to draft, verify and count. K: paths; other trees have as many nodes."}});
  return document;
}

}  // namespace draftproof
