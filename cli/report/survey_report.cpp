#include <draftproof/cli/report/survey_report.hpp>

#include <algorithm>
#include <string_view>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/cli/report/proof_report.hpp>
#include <draftproof/cli/report/text.hpp>
#include <draftproof/properties/statistics/sample_size.hpp>

namespace draftproof {

namespace {

/// A section of a survey: the rows of one draft sampling.
template <class Row>
struct DistributionRows {
  decltype(Row::drafter) drafter;
  std::vector<const Row*> rows;
};

/// Returns the rows for which `shown(row)` is true, grouped by draft sampling; groups are in the order of their first
/// rows. The rows of a group are sorted by number of drafts, verifiers before mutants, then by `acceptance(row)`, the
/// largest last.
template <class Row, class Shown, class Acceptance>
std::vector<DistributionRows<Row>> rows_by_distribution(const std::vector<Row>& rows, Shown shown,
                                                        Acceptance acceptance) {
  std::vector<DistributionRows<Row>> distributions;
  for (const Row& row : rows) {
    if (!shown(row)) continue;
    auto distribution = std::find_if(distributions.begin(), distributions.end(),
                                     [&](const auto& known) { return known.drafter == row.drafter; });
    if (distribution == distributions.end())
      distribution = distributions.insert(distributions.end(), {row.drafter, {}});
    distribution->rows.push_back(&row);
  }
  const auto place = [&](const Row* row) { return std::tuple(row->drafts, row->verifier->kind(), acceptance(*row)); };
  for (auto& distribution : distributions)
    std::stable_sort(distribution.rows.begin(), distribution.rows.end(),
                     [&](const Row* a, const Row* b) { return place(a) < place(b); });
  return distributions;
}

/// Returns a line below the table: "  NAME at K = 4" and `remark`.
template <class Row>
std::string row_note(const Row& row, std::string_view remark) {
  return fmt::format("  {} at K = {}{}", row.verifier->info().name, row.drafts, remark);
}

/// Returns a line with the number of rows that ran on the requested device, and for each reason why rows ran on the CPU
/// a line with their names.
std::vector<std::string> place_lines(const std::vector<const SurveyRow*>& rows, const TrialDevice* device) {
  if (!device) return {};
  std::vector<std::pair<std::string, std::string>> reasons;  // (reason, names of its rows)
  std::size_t there = 0, run = 0;
  for (const SurveyRow* row : rows) {
    there += row->place.on_device();
    run += row->place.asked();
    if (row->place.refusal.empty()) continue;
    auto known =
        std::find_if(reasons.begin(), reasons.end(), [row](const auto& r) { return r.first == row->place.refusal; });
    if (known == reasons.end()) known = reasons.insert(reasons.end(), {row->place.refusal, ""});
    known->second +=
        fmt::format("{}{} at K = {}", known->second.empty() ? "" : ", ", row->verifier->info().name, row->drafts);
  }
  std::vector<std::string> lines{fmt::format("  {} of {} on {}", there, counted(run, "row"), device->name())};
  for (const auto& [reason, names] : reasons) lines.push_back(fmt::format("  on the CPU: {} ({})", names, reason));
  return lines;
}

/// Adds a rate with its interval to the data and to the table: null and "-" for a row that did not run.
void add_rate(ResultRow& line, const char* key, double rate, std::uint64_t count, const Tally& tally,
              double confidence) {
  std::string title = key;
  std::ranges::replace(title, '_', ' ');
  if (tally.trials == 0) {
    line.data(key, {}).number(title, {"-"});
    return;
  }
  const Interval interval = clopper_pearson(count, tally.trials, 1 - confidence);
  line.data(key, {{"rate", rate}, {"low", interval.low}, {"high", interval.high}, {"count", count}});
  line.number(title, {fmt::format("{:.4f} ±{:.4f}", rate, std::max(interval.high - rate, rate - interval.low))});
}

ResultRow row_of(const SurveyRow& row, const Proof* proof, double confidence, bool timings) {
  const Tally& tally = row.tally;
  const auto closed = row.gap_closed();
  const bool timed = !row.place.on_device();
  const Cell verdict = verdict_cell(proof, row.verifier->info());
  ResultRow line;
  line.text("verifier", "verifier", {std::string(row.verifier->info().name)})
      .data("draft_sampling", row.drafter->info().name);
  line.data("drafts", row.drafts).number("K", {std::to_string(row.drafts)});
  line.text("verdict", "exact?", verdict).data("tuples", tally.trials);
  add_rate(line, "draft_accepted", row.draft_accepted(), tally.draft_accepted, tally, confidence);
  add_rate(line, "draft_emitted", row.draft_emitted(), tally.draft_emitted, tally, confidence);
  line.data("single_draft", row.single).data("impossible", tally.impossible);
  line.fixed("optimum", "optimum", row.optimum, 4);
  if (!row.not_run.empty()) line.data("not_run", row.not_run);
  line.data("gap_closed", closed ? nlohmann::ordered_json(*closed) : nlohmann::ordered_json());
  line.number("gap closed", {gap_closed_text(row, confidence)});
  line.data("accepted_by_draft",
            std::vector<std::uint64_t>(tally.by_draft.begin(), tally.by_draft.begin() + row.drafts));
  for (const AcceptanceAt& one : row.at) {
    auto& positions = line.record["by_position"];
    positions["tuples"].push_back(one.tuples);
    positions["accepted"].push_back(one.draft_emitted);
    positions["optimum"].push_back(one.optimum ? nlohmann::ordered_json(*one.optimum) : nlohmann::ordered_json());
  }
  if (timings && timed) line.data("nanoseconds_per_tuple", row.nanoseconds_per_tuple());
  if (row.place.asked()) line.data("device", row.place.device);
  if (!row.place.refusal.empty()) line.data("not_on_device", row.place.refusal);
  return line.number(
      "ns/tuple",
      {timed && tally.trials > 0 ? fmt::format("{:.0f}", row.nanoseconds_per_tuple()) : "-", Tone::faint});
}

Section section_of(const SurveyedSource& surveyed, const DistributionRows<SurveyRow>& distribution,
                   std::span<const Proof> proofs, const SurveyOptions& options, double confidence) {
  Section section{
      .title = fmt::format("{}, draft sampling {}", surveyed.source->name(), distribution.drafter->info().name),
      .before = {std::string(distribution.drafter->info().summary) + "; the optimum is for this draft sampling"}};
  section.after = place_lines(distribution.rows, options.device);
  for (const SurveyRow* ordered : distribution.rows) {
    const SurveyRow& row = *ordered;
    section.table.add(row_of(row, proof_of(proofs, row), confidence, false));
    if (!row.not_run.empty())
      section.after.push_back(row_note(
          row, fmt::format(" does not run here: {}; --proposal-top-k makes the vocabulary smaller", row.not_run)));
    if (row.not_run.empty() && row.tuples < options.tuples)
      section.after.push_back(row_note(
          row, fmt::format(": {} only, because each reads the whole vocabulary", counted(row.tuples, "tuple"))));
    if (row.tally.impossible > 0)
      section.after.push_back(
          row_note(row, " reached a branch of probability zero in " + counted(row.tally.impossible, "trial")));
  }
  return section;
}

Cell verdict_of(const PathProof* proof, const StepRow& row) {
  if (row.oracle) return {"by its plan", Tone::good};
  return verdict_cell(proof, row.verifier->info());
}

/// Whether a scheme with state ran for only one step per trial. The first step of such a scheme accepts more than later
/// steps, so the row is not comparable with rows of other schemes.
bool first_step_alone(const StepRow& row) { return row.verifier->stateful() && row.tally.steps == row.tally.trials; }

ResultRow row_of(const StepRow& row, const PathProof* proof, int length, bool timings) {
  const StepTally& tally = row.tally;
  const std::string name(row.verifier->info().name);
  ResultRow line;
  line.data("verifier", name)
      .data("draft_sampling", row.drafter->info().name)
      .data("drafts", row.drafts)
      .data("length", length);
  line.cell("verifier", {first_step_alone(row) ? name + ", first step" : name,
                         row.verifier->kind() == Kind::mutant ? Tone::bad : Tone::plain});
  line.number("K", {std::to_string(row.drafts)}).text("verdict", "exact?", verdict_of(proof, row));
  line.data("trials", tally.trials).data("steps", tally.steps).data("mean_accepted", tally.mean_accepted());
  line.data("standard_error", tally.standard_error());
  line.number("accepted", {with_error(tally.mean_accepted(), tally.standard_error())});
  line.fixed("block_efficiency", "block efficiency", tally.block_efficiency(), 4)
      .data("impossible", tally.impossible);
  line.number("accepts >= 1", {fmt::format("{:.4f}", tally.at_least(1))});
  line.number("accepts all", {fmt::format("{:.4f}", tally.at_least(length))});
  line.data("accepted", std::vector<std::uint64_t>(tally.accepted.begin(), tally.accepted.begin() + length + 1));
  if (first_step_alone(row)) line.data("first_step_alone", true);
  line.number("optimum", {row.optimum ? fmt::format("{:.4f}", *row.optimum) : "-"});
  line.number("full information", {row.full_information ? fmt::format("{:.4f}", *row.full_information) : "-"});
  if (row.optimum) line.data("optimum", *row.optimum);
  if (row.full_information) line.data("full_information", *row.full_information);
  if (timings) line.data("microseconds_per_step", row.microseconds_per_step());
  return line.number("us/step", {fmt::format("{:.2f}", row.microseconds_per_step()), Tone::faint});
}

Section section_of(const SurveyedPaths& item, const DistributionRows<StepRow>& distribution,
                   std::span<const PathProof> proofs, bool several) {
  const std::string at = several ? fmt::format(", L = {}", item.length) : "";
  Section section{
      .title = fmt::format("{}, tree sampling {}{}", item.source->name(), distribution.drafter->info().name, at),
      .before = {std::string(distribution.drafter->info().summary)}};
  std::vector<const StepRow*> rows = distribution.rows;
  std::stable_partition(rows.begin(), rows.end(), [](const StepRow* row) { return !first_step_alone(*row); });
  for (const StepRow* row : rows) {
    section.table.add(row_of(*row, proof_of(proofs, *row), item.length, false));
    if (first_step_alone(*row))
      section.after.push_back(row_note(*row,
                                       " carries state and ran one step per trial: later steps accept less. Not "
                                       "ranked; survey it on a running model"));
    if (row->tally.impossible > 0)
      section.after.push_back(
          row_note(*row, " reached a branch of probability zero in " + counted(row->tally.impossible, "step")));
  }
  return section;
}

}  // namespace

std::string gap_closed_text(const SurveyRow& row, double confidence) {
  const auto closed = row.gap_closed();
  if (!closed) return "-";
  const Interval interval = clopper_pearson(row.tally.draft_emitted, row.tally.trials, 1 - confidence);
  return percent_closed(*closed, interval.low <= *row.optimum);
}

Document report_survey(std::span<const SurveyedSource> surveyed, std::span<const Proof> proofs,
                       const SurveyOptions& options, double confidence, bool timings) {
  Document document;
  auto& data = document.data;
  data = {{"schema", "draftproof.survey/3"},
          {"seed", options.seed},
          {"tuples_per_row", options.tuples},
          {"confidence", confidence}};
  std::uint64_t tuples = 0;
  for (const SurveyedSource& item : surveyed) {
    nlohmann::ordered_json entry{
        {"source", item.source->name()},           {"about", item.source->describe()},
        {"vocabulary", item.source->vocabulary()}, {"positions", item.result.positions},
        {"complete", item.result.complete},        {"rows", nlohmann::ordered_json::array()}};
    for (const SurveyRow& row : item.result.rows) {
      tuples += row.tally.trials;
      entry["rows"].push_back(row_of(row, proof_of(proofs, row), confidence, timings).record);
    }
    auto distributions = rows_by_distribution(
        item.result.rows, [](const SurveyRow&) { return true; },
        [](const SurveyRow& row) { return row.tally.draft_emitted; });
    // Independent draws come first, because most engines use them and most schemes are written for them.
    std::stable_partition(distributions.begin(), distributions.end(),
                          [](const auto& distribution) { return distribution.drafter->info().shared_proposal_iid; });
    data["sources"].push_back(std::move(entry));
    document.sections.push_back(
        {.title = item.source->name(),
         .before = {fmt::format("  {}{}, V = {}, proposal {}", counted(item.result.positions, "position"),
                                item.result.complete ? "" : " (stopped early)", grouped(item.source->vocabulary()),
                                fmt::join(item.source->proposal_names(), ", "))}});
    for (const auto& distribution : distributions)
      document.sections.push_back(section_of(item, distribution, proofs, options, confidence));
  }
  data["tuples"] = tuples;
  add_proofs(document, proofs, timings);
  document.sections.push_back(
      {.title = "",
       .before = {
           fmt::format("{} in all, seed {}. exact?: output distribution == target in fractions on that many "
                       "generated instances.",
                       counted(tuples, "draft tuple"), options.seed),
           fmt::format(
               "± is a {:g} % Clopper-Pearson interval. gap closed: from one draft (0 %) to the optimum (100 %).",
               100 * confidence),
           "draft accepted: the verifier reports an accepted draft. draft emitted: the token is among the drafts.",
           "ns/tuple: processor time to draw, decide and count one tuple on prepared tables."}});
  return document;
}

Document report_path_survey(std::span<const SurveyedPaths> surveyed, std::span<const PathProof> proofs,
                            const PathSurveyOptions& options, bool complete, bool timings) {
  Document document;
  auto& data = document.data;
  data = {{"schema", "draftproof.survey-paths/3"}, {"seed", options.seed}};
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
      if (ran(row)) entry["rows"].push_back(row_of(row, proof_of(proofs, row), item.length, timings).record);
    for (const auto& distribution :
         rows_by_distribution(item.rows, ran, [](const StepRow& row) { return row.tally.mean_accepted(); }))
      document.sections.push_back(section_of(item, distribution, proofs, several));
    data["sources"].push_back(std::move(entry));
  }
  add_proofs(document, proofs, timings);
  document.sections.push_back(
      {.title = "",
       .before = {
           "exact?: the output distribution equals the target, in fractions, on that many small models;",
           "by its plan: the oracle's plan over all trees was checked in fractions; a feasible plan is lossless.",
           "accepted: drafted tokens accepted in a step, the extra token not counted, ± its standard error;",
           "for captured trees it is computed between contexts, and so includes which contexts and paths were "
           "captured.",
           "block efficiency: emitted tokens per call of the target. optimum: the most any lossless scheme of one",
           "iteration accepts; full information: one that also knew the target's next block; - with too many trees.",
           "us/step: processor time to draft, verify and count. K: paths; other trees have as many nodes as K "
           "paths."}});
  return document;
}

}  // namespace draftproof
