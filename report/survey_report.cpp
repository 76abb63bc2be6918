#include <draftproof/report/survey_report.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/report/proof_report.hpp>
#include <draftproof/report/survey_rows.hpp>
#include <draftproof/report/text.hpp>
#include <draftproof/statistics/interval.hpp>

namespace draftproof {

namespace {

std::string rate_text(double rate, std::uint64_t count, std::uint64_t trials, double confidence) {
  const Interval interval = clopper_pearson(count, trials, 1 - confidence);
  return fmt::format("{:.4f} ±{:.4f}", rate, std::max(interval.high - rate, rate - interval.low));
}

/// The number of rows that ran on the requested device, and a line for each reason why others did not.
std::vector<std::string> place_lines(const std::vector<const SurveyRow*>& rows, const TrialDevice* device) {
  if (!device) return {};
  std::vector<std::pair<std::string, std::string>> reasons;  // with row names, in the order of the rows
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

Section section_of(const SurveyedSource& surveyed, const LawRows<SurveyRow>& law, std::span<const Proof> proofs,
                   const SurveyOptions& options, double confidence) {
  Section section{.title = fmt::format("{}, draft law {}", surveyed.source->name(), law.drafter->info().name),
                  .before = {std::string(law.drafter->info().summary) + "; the optimum is that of this law"}};
  section.table.columns = {{"verifier"},         {"K", true},       {"exact?"},           {"flag", true},
                           {"membership", true}, {"optimum", true}, {"gap closed", true}, {"ns/tuple", true}};
  section.after = place_lines(law.rows, options.device);
  for (const SurveyRow* ordered : law.rows) {
    const SurveyRow& row = *ordered;
    const auto closed = row.gap_closed();
    const Tally& tally = row.tally;
    const bool ran = tally.trials > 0, timed = ran && !row.place.on_device();
    const auto rate = [&](double value, std::uint64_t count) -> Cell {
      return {ran ? rate_text(value, count, tally.trials, confidence) : "-"};
    };
    section.table.rows.push_back({{std::string(row.verifier->info().name)},
                                  {std::to_string(row.drafts)},
                                  verdict_cell(proof_of(proofs, row), row.verifier->info()),
                                  rate(row.flag(), tally.flagged),
                                  rate(row.membership(), tally.members),
                                  {row.optimum ? fmt::format("{:.4f}", *row.optimum) : "-"},
                                  {closed ? fmt::format("{:.0f} %", 100 * *closed) : "-"},
                                  {timed ? fmt::format("{:.0f}", row.nanoseconds_per_tuple()) : "-", Tone::faint}});
    if (!row.not_run.empty())
      section.after.push_back(
          row_note(row, fmt::format(" does not run here: {}; --proposal-top-k makes it smaller", row.not_run)));
    if (row.not_run.empty() && row.tuples != options.tuples)
      section.after.push_back(
          row_note(row, fmt::format(": {}, each passing over the vocabulary", counted(row.tuples, "tuple"))));
    if (tally.impossible > 0)
      section.after.push_back(
          row_note(row, " reached a branch of probability zero in " + counted(tally.impossible, "trial")));
  }
  return section;
}

nlohmann::ordered_json row_data(const SurveyRow& row, const Proof* proof, double confidence, bool timings) {
  const Tally& tally = row.tally;
  const auto rate = [&](double value, std::uint64_t count) {
    if (tally.trials == 0) return nlohmann::ordered_json();
    const Interval interval = clopper_pearson(count, tally.trials, 1 - confidence);
    return nlohmann::ordered_json{{"rate", value}, {"low", interval.low}, {"high", interval.high}, {"count", count}};
  };
  nlohmann::ordered_json data{{"verifier", row.verifier->info().name},
                              {"law", row.drafter->info().name},
                              {"drafts", row.drafts},
                              {"verdict", verdict_cell(proof, row.verifier->info()).text},
                              {"tuples", tally.trials},
                              {"flag", rate(row.flag(), tally.flagged)},
                              {"membership", rate(row.membership(), tally.members)},
                              {"single_draft", row.single},
                              {"impossible", tally.impossible}};
  data["optimum"] = row.optimum ? nlohmann::ordered_json(*row.optimum) : nlohmann::ordered_json();
  if (!row.not_run.empty()) data["not_run"] = row.not_run;
  const auto closed = row.gap_closed();
  data["gap_closed"] = closed ? nlohmann::ordered_json(*closed) : nlohmann::ordered_json();
  data["accepted_by_draft"] = std::vector<std::uint64_t>(tally.by_draft.begin(), tally.by_draft.begin() + row.drafts);
  for (const AcceptanceAt& one : row.at) {
    data["by_position"]["tuples"].push_back(one.tuples);
    data["by_position"]["accepted"].push_back(one.members);
    data["by_position"]["optimum"].push_back(one.optimum ? nlohmann::ordered_json(*one.optimum)
                                                         : nlohmann::ordered_json());
  }
  if (timings && !row.place.on_device()) data["nanoseconds_per_tuple"] = row.nanoseconds_per_tuple();
  if (row.place.asked()) data["device"] = row.place.device;
  if (!row.place.refusal.empty()) data["not_on_device"] = row.place.refusal;
  return data;
}

}  // namespace

Document report_survey(std::span<const SurveyedSource> surveyed, std::span<const Proof> proofs,
                       const SurveyOptions& options, double confidence, bool timings) {
  Document document;
  auto& data = document.data;
  data = {{"schema", "draftproof.survey/2"},
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
      entry["rows"].push_back(row_data(row, proof_of(proofs, row), confidence, timings));
    }
    auto laws = rows_by_law(
        item.result.rows, [](const SurveyRow&) { return true; },
        [](const SurveyRow& row) { return row.tally.members; });
    // Independent draws first: most engines use them, and most schemes are written for them.
    std::stable_partition(laws.begin(), laws.end(),
                          [](const auto& law) { return law.drafter->info().shared_proposal_iid; });
    data["sources"].push_back(std::move(entry));
    document.sections.push_back(
        {.title = item.source->name(),
         .before = {fmt::format("  {}{}, V = {}, proposal {}", counted(item.result.positions, "position"),
                                item.result.complete ? "" : " (stopped early)", grouped(item.source->vocabulary()),
                                fmt::join(item.source->proposal_names(), ", "))}});
    for (const auto& law : laws) document.sections.push_back(section_of(item, law, proofs, options, confidence));
  }
  data["tuples"] = tuples;
  add_proofs(document, proofs, timings);
  document.sections.push_back(
      {.title = "",
       .before = {
           fmt::format("{} in all, seed {}. exact?: output law == target in fractions on that many generated "
                       "instances.",
                       counted(tuples, "draft tuple"), options.seed),
           fmt::format("± is a {:g} % Clopper-Pearson interval. gap closed: from one draft (0 %) to the optimum "
                       "(100 %).",
                       100 * confidence),
           "ns/tuple: processor time to draw, decide and count one tuple on prepared tables."}});
  return document;
}

}  // namespace draftproof
