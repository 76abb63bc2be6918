#include <draftproof/cli/report/survey_report.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/cli/report/text.hpp>

namespace draftproof {

namespace {

/// Returns "passed", or the names of the properties that the policy failed.
Cell verdict_of(const PolicyRow& row, const std::vector<Finding>& findings) {
  std::vector<std::string> failed;
  bool undecided = false;
  for (const Finding& finding : findings) {
    if (fails(row, finding)) failed.push_back(finding.property);
    undecided |= finding.status == Status::undecided;
  }
  if (!failed.empty()) return {fmt::format("failed: {}", fmt::join(failed, ", ")), Tone::bad};
  if (undecided) return {"undecided"};
  return findings.empty() ? Cell{"not checked", Tone::faint} : Cell{"passed", Tone::good};
}

/// Returns the numbers of batches by the size of their step.
nlohmann::ordered_json sizes_of(const PolicyTally& tally) {
  auto sizes = nlohmann::ordered_json::array();
  for (const auto& [size, batches] : tally.sizes)
    sizes.push_back({{"draft_passes", size.passes},
                     {"longest", size.longest},
                     {"verified", size.verified},
                     {"batches", batches}});
  return sizes;
}

ResultRow row_of(const PolicySurvey& survey, const PolicyRow& row, const std::vector<Finding>& findings,
                 bool several_verifiers, bool with_sizes) {
  const PolicyTally& tally = row.tally;
  const double verified = survey.per_request(tally.verified), accepted = survey.per_request(tally.accepted);
  const std::optional<double> efficiency = verified > 0 ? std::optional(accepted / verified) : std::nullopt;
  const std::string name(row.policy->info().name);
  ResultRow line;
  line.data("policy", name).cell("policy", {name, row.policy->kind() == Kind::mutant ? Tone::bad : Tone::plain});
  line.text("verdict", "exact?", verdict_of(row, findings));
  line.data("verifier", survey_name(row.rule));
  if (several_verifiers) line.cell("verifier", {std::string(survey_name(row.rule))});
  line.fixed("verified", "verified", verified, 4).data("accepted", accepted);
  line.data("standard_error", survey.standard_error(tally));
  line.number("accepted", {with_error(accepted, survey.standard_error(tally))});
  line.fixed("accepted_per_verified", "per verified", efficiency, 4);
  line.fixed("tokens_per_call", "tokens per call", survey.per_request(tally.emitted), 4);
  line.fixed("best", "best", row.best, 4);
  const bool compared = row.best && *row.best > 0;
  line.number("of best", {compared ? fmt::format("{:.1f} %", 100 * accepted / *row.best) : "-"});
  if (with_sizes) line.data("reads_past", reads_past(row)).data("sizes", sizes_of(tally));
  return line;
}

}  // namespace

Document report_policy_survey(std::span<const SurveyedPolicies> surveyed, const PolicySurveyOptions& options,
                              bool complete) {
  Document document;
  auto& data = document.data;
  data = {{"schema", "draftproof.survey-policies/1"},
          {"seed", options.seed},
          {"requests", options.requests},
          {"length", options.length},
          {"budget", options.most_verified()},
          {"cost", options.cost},
          {"head", options.head == ConfidenceHead::overlap ? "overlap" : "largest"},
          {"complete", complete}};
  for (const SurveyedPolicies& item : surveyed) {
    nlohmann::ordered_json entry{{"source", item.source->name()},
                                 {"about", item.source->describe()},
                                 {"batches", item.survey.batches},
                                 {"rows", nlohmann::ordered_json::array()}};
    Section section{
        .title = item.source->name(),
        .before = {"  " + item.source->summary(),
                   fmt::format("  batches: {}, of {} with {} each; at most {} verified in a batch{}",
                               item.survey.batches, counted(static_cast<std::uint64_t>(options.requests), "request"),
                               counted(static_cast<std::uint64_t>(options.length), "draft"), options.most_verified(),
                               complete ? "" : " (stopped early)")}};
    for (std::size_t i = 0; i < item.survey.rows.size(); ++i)
      section.table.add(entry["rows"], row_of(item.survey, item.survey.rows[i],
                                              item.findings.empty() ? std::vector<Finding>{} : item.findings[i],
                                              options.rules != std::vector{VerifyRule::token}, options.sizes));
    data["sources"].push_back(std::move(entry));
    document.sections.push_back(std::move(section));
  }
  document.sections.push_back(
      {.title = "",
       .before = {
           "exact? checks non_anticipation and output_distribution in fractions (docs/selection.md).",
           "verified, accepted: drafts of a request in a step, the extra token not counted; ± one standard error.",
           "best: the most accepted drafts of any policy that passes non_anticipation and verifies as many drafts on",
           "average; on stored trees, of any such policy on these trees. -: there are too many prefixes, or the "
           "policy needs another verifier.",
           "A policy that fails may exceed the best: its output does not have the target's distribution."}});
  return document;
}

}  // namespace draftproof
