#include <draftproof/report/audit_report.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/report/text.hpp>

namespace draftproof {

namespace {

/// log e as a power of ten.
double decades(double log_e) { return log_e / std::log(10.0); }
std::string power_of_ten(double log_e) { return fmt::format("10^{:.1f}", decades(log_e)); }

double percent_more(const GroupExcess& excess) { return 100 * (excess.observed / excess.expected - 1); }

nlohmann::ordered_json excess_data(const GroupExcess& excess) {
  nlohmann::ordered_json data{{"where", excess.where},
                              {"observed", excess.observed},
                              {"expected", excess.expected},
                              {"deviations", excess.deviations}};
  if (excess.expected > 0) data["percent_more"] = percent_more(excess);
  data["first_records"] = excess.first;
  return data;
}

std::vector<Cell> excess_cells(const GroupExcess& excess) {
  if (excess.where.empty()) return {{"none"}, {""}, {""}, {""}, {""}};
  return {{excess.where},
          {fmt::format("{:.0f}", excess.observed)},
          {fmt::format("{:.1f}", excess.expected)},
          {excess.expected > 0 ? fmt::format("{:+.1f} %", percent_more(excess)) : ""},
          {fmt::format("{:.1f}", excess.deviations)}};
}

Section verdict(const AuditResult& result, const Trace& trace, const AuditOptions& options) {
  const Tone tone = result.status == Status::violated ? Tone::bad
                    : result.status == Status::held   ? Tone::good
                                                      : Tone::plain;
  Section section{.title = fmt::format("Audit of {}", trace.file())};
  section.before.push_back(fmt::format("  {}, {}, {}; V = {}; draft law {}", counted(result.records, "record"),
                                       counted(result.blocks, "block"), counted(result.drafts, "draft"),
                                       grouped(trace.vocabulary()), result.draft_law));
  section.table.columns = {{"verdict"}, {"e", true}, {"largest e at a look", true}, {"alarm from", true}, {"note"}};
  std::string note;
  if (result.alarm_record) note = fmt::format("alarm after {}", counted(*result.alarm_record, "record"));
  if (!result.proofs.empty())
    note += (note.empty() ? "" : "; ") + std::string("a record that no correct engine writes");
  if (result.stopped) note += (note.empty() ? "" : "; ") + std::string("stopped");
  section.table.rows.push_back({{std::string(to_text(result.status)), tone},
                                {power_of_ten(result.log_e)},
                                {power_of_ten(result.largest_log_e)},
                                {power_of_ten(result.log_threshold)},
                                {note}});
  for (const AuditProof& proof : result.proofs) {
    const auto count = std::find_if(result.proof_counts.begin(), result.proof_counts.end(),
                                    [&](const auto& entry) { return entry.first == proof.check; });
    section.after.push_back(fmt::format("  {} violated: {}, record {} (block {}, place {} of it); {} in all",
                                        proof.check, proof.evidence, proof.record, proof.block, proof.place,
                                        count->second));
  }
  if (result.chain_records > 0) {
    const auto n = static_cast<double>(result.chain_records);
    section.after.push_back(fmt::format("  accepted {:.4f} of {} with a draft; sum min(p, q) is {}{:.4f} on average",
                                        static_cast<double>(result.chain_accepted) / n,
                                        counted(result.chain_records, "record"), trace.truncated() ? "at most " : "",
                                        result.chain_overlap / n));
  }
  if (result.draft_law == "unknown")
    section.after.push_back("  drafts are not judged: the recording does not say how they are drawn (--draft-law)");
  if (!options.rejection)
    section.after.push_back(
        "  verdicts are not judged: --rule rejection says that drafts are verified one after another");
  return section;
}

Section families_section(const AuditResult& result) {
  Section section{.title = "Bets, and where each family has the largest excess"};
  section.table.columns = {
      {"bets on"},        {"draws", true},    {"weight", true}, {"e", true},          {"group"},
      {"observed", true}, {"expected", true}, {"excess", true}, {"deviations", true}, {"first records"}};
  for (const AuditFamily& family : result.families) {
    std::vector<Cell> row{
        {family.name}, {grouped(family.draws)}, {fmt::format("{:.2f}", family.weight)}, {power_of_ten(family.log_e)}};
    for (Cell& cell : excess_cells(family.worst)) row.push_back(std::move(cell));
    row.push_back({fmt::format("{}", fmt::join(family.worst.first, ", "))});
    section.table.rows.push_back(std::move(row));
  }
  return section;
}

Section places_section(const AuditResult& result) {
  Section section{.title = "Places in the block"};
  section.table.columns = {{"place"},          {"records", true}, {"group"},           {"observed", true},
                           {"expected", true}, {"excess", true},  {"deviations", true}};
  for (const AuditPlace& place : result.places) {
    std::vector<Cell> row{{place.place}, {grouped(place.records)}};
    for (Cell& cell : excess_cells(place.worst)) row.push_back(std::move(cell));
    section.table.rows.push_back(std::move(row));
  }
  return section;
}

/// Of each family its scores, the cut that is hardest to see and the one that is easiest.
Section smallest_section(const AuditResult& result) {
  Section section{.title = "Smallest deviations that this recording would have shown with probability 0.99"};
  section.table.columns = {{"bets on"}, {"deviation"}, {"total variation", true}, {"tilt", true}};
  const auto add = [&section](const AuditFamily& family, const SmallestFound& found, const char* which) {
    section.table.rows.push_back({{family.name},
                                  {which + found.direction},
                                  {fmt::format("{:.2f} %", 100 * found.total_variation)},
                                  {found.tilt != 0 ? fmt::format("{:.3f}", std::abs(found.tilt)) : ""}});
  };
  for (const AuditFamily& family : result.families) {
    const SmallestFound *hardest = nullptr, *easiest = nullptr;
    for (const SmallestFound& found : family.smallest) {
      if (found.tilt != 0) {
        add(family, found, "");
        continue;
      }
      if (!hardest || found.total_variation > hardest->total_variation) hardest = &found;
      if (!easiest || found.total_variation < easiest->total_variation) easiest = &found;
    }
    if (hardest) add(family, *hardest, "hardest shift: to ");
    if (easiest && easiest != hardest) add(family, *easiest, "easiest shift: to ");
  }
  section.after.push_back(
      "  a plan from normal approximations, for deviations along these directions; docs/traces.md");
  return section;
}

nlohmann::ordered_json families_data(const AuditResult& result) {
  auto all = nlohmann::ordered_json::array();
  for (const AuditFamily& family : result.families) {
    nlohmann::ordered_json data{{"bets", family.name},
                                {"draws", family.draws},
                                {"weight", family.weight},
                                {"log10_e", decades(family.log_e)}};
    if (!family.worst.where.empty()) data["largest_excess"] = excess_data(family.worst);
    data["smallest_found"] = nlohmann::ordered_json::array();
    for (const SmallestFound& found : family.smallest) {
      nlohmann::ordered_json one{{"direction", found.direction}, {"total_variation", found.total_variation}};
      if (found.tilt != 0) one["tilt"] = found.tilt;
      data["smallest_found"].push_back(std::move(one));
    }
    all.push_back(std::move(data));
  }
  return all;
}

}  // namespace

Document report_audit(const AuditResult& result, const Trace& trace, const AuditOptions& options, bool timings) {
  Document document;
  document.data = {{"schema", "draftproof.audit/1"},
                   {"trace", trace.file()},
                   {"engine", trace.metadata().value("engine", "")},
                   {"status", to_text(result.status)},
                   {"stopped", result.stopped},
                   {"records", result.records},
                   {"blocks", result.blocks},
                   {"drafts", result.drafts},
                   {"vocabulary", trace.vocabulary()},
                   {"draft_law", result.draft_law},
                   {"rule", options.rejection ? "rejection" : "any lossless"},
                   {"share", options.share},
                   {"log10_e", decades(result.log_e)},
                   {"largest_log10_e", decades(result.largest_log_e)},
                   {"log10_threshold", decades(result.log_threshold)}};
  if (result.alarm_record) document.data["alarm_after_records"] = *result.alarm_record;
  if (timings) {
    document.data["seconds"] = result.seconds;
    document.data["gigabytes_per_second"] = static_cast<double>(result.row_bytes) / 1e9 / result.seconds;
  }
  document.data["violations"] = nlohmann::ordered_json::array();
  for (const AuditProof& proof : result.proofs)
    document.data["violations"].push_back({{"check", proof.check},
                                           {"evidence", proof.evidence},
                                           {"record", proof.record},
                                           {"block", proof.block},
                                           {"place", proof.place}});
  document.data["violation_counts"] = nlohmann::ordered_json::object();
  for (const auto& [check, count] : result.proof_counts) document.data["violation_counts"][check] = count;
  if (result.chain_records > 0) {
    const auto n = static_cast<double>(result.chain_records);
    document.data["acceptance"] = {{"records", result.chain_records},
                                   {"accepted", static_cast<double>(result.chain_accepted) / n},
                                   {"sum_min_p_q", result.chain_overlap / n}};
  }
  document.data["families"] = families_data(result);
  document.data["places"] = nlohmann::ordered_json::array();
  for (const AuditPlace& place : result.places) {
    nlohmann::ordered_json data{{"place", place.place}, {"records", place.records}};
    if (!place.worst.where.empty()) data["largest_excess"] = excess_data(place.worst);
    document.data["places"].push_back(std::move(data));
  }
  Section first = verdict(result, trace, options);
  if (timings)
    first.after.push_back(fmt::format("  {:.2f} GB of rows in {:.2f} s, {:.2f} GB/s",
                                      static_cast<double>(result.row_bytes) / 1e9, result.seconds,
                                      static_cast<double>(result.row_bytes) / 1e9 / result.seconds));
  document.sections = {std::move(first), families_section(result), places_section(result), smallest_section(result)};
  return document;
}

}  // namespace draftproof
