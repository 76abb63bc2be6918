#include <draftproof/cli/report/program_report.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/captures/nearest_names.hpp>
#include <draftproof/cli/report/proof_report.hpp>
#include <draftproof/cli/report/text.hpp>

namespace draftproof {

namespace {

std::string_view to_text(AuditRule rule) {
  constexpr std::array<std::string_view, 3> names{"any lossless", "rejection", "greedy"};
  return names[static_cast<std::size_t>(rule)];
}

/// Returns the decimal logarithm of an e-value from its natural logarithm.
double decades(double log_e) { return log_e / std::log(10.0); }
std::string power_of_ten(double log_e) { return fmt::format("10^{:.1f}", decades(log_e)); }

double percent_more(const GroupExcess& excess) { return 100 * (excess.observed / excess.expected - 1); }

/// Adds the largest excess of a family or of a position in the block: five cells, and an object in the data if there
/// is an excess.
void add_excess(ResultRow& row, const GroupExcess& excess) {
  const bool any = !excess.where.empty();
  row.cell("group", {any ? excess.where : "none"});
  row.number("observed", {any ? fmt::format("{:.0f}", excess.observed) : ""});
  row.number("expected", {any ? fmt::format("{:.1f}", excess.expected) : ""});
  row.number("excess", {any && excess.expected > 0 ? fmt::format("{:+.1f} %", percent_more(excess)) : ""});
  row.number("deviations", {any ? fmt::format("{:.1f}", excess.deviations) : ""});
  if (!any) return;
  nlohmann::ordered_json data{{"where", excess.where},
                              {"observed", excess.observed},
                              {"expected", excess.expected},
                              {"deviations", excess.deviations}};
  if (excess.expected > 0) data["percent_more"] = percent_more(excess);
  data["first_records"] = excess.first;
  row.data("largest_excess", std::move(data));
}

Section verdict(const AuditResult& result, const Trace& trace, const AuditOptions& options) {
  Section section{.title = fmt::format("Audit of {}", trace.file())};
  section.before.push_back(fmt::format("  {}, {}, {}; V = {}; draft sampling {}", counted(result.records, "record"),
                                       counted(result.blocks, "block"), counted(result.drafts, "draft"),
                                       grouped(trace.vocabulary()), result.draft_sampling));
  std::vector<std::string> notes;
  if (result.alarm_record) notes.push_back(fmt::format("alarm after {}", counted(*result.alarm_record, "record")));
  if (!result.proofs.empty()) notes.emplace_back("a record that no correct engine can write");
  if (result.stopped) notes.emplace_back("stopped");
  if (result.shows && result.status != Status::failed) {
    const SmallestFound& found = result.shows->second;
    notes.push_back(fmt::format("would have detected a total variation of {:.2g} % ({}{})",
                                100 * found.total_variation, found.tilt == 0 ? "a shift to " : "", found.direction));
  }
  ResultRow row;
  row.cell("verdict", status_cell(result.status)).number("e", {power_of_ten(result.log_e)});
  row.number("largest e", {power_of_ten(result.largest_log_e)});
  row.number("alarm threshold", {power_of_ten(result.log_threshold)})
      .cell("note", {fmt::format("{}", fmt::join(notes, "; "))});
  section.table.add(std::move(row));
  for (const AuditProof& proof : result.proofs) {
    const auto count = std::find_if(result.proof_counts.begin(), result.proof_counts.end(),
                                    [&](const auto& entry) { return entry.first == proof.check; });
    section.after.push_back(
        fmt::format("  {} failed: {}, record {} (block {}, token {} of the block); {} such failures", proof.check,
                    proof.evidence, proof.record, proof.block, proof.place, count->second));
  }
  if (result.chain_records > 0) {
    const auto n = static_cast<double>(result.chain_records);
    section.after.push_back(fmt::format("  accepted {:.4f} of {} with a draft; sum min(p, q) is {}{:.4f} on average",
                                        static_cast<double>(result.chain_accepted) / n,
                                        counted(result.chain_records, "record"), trace.truncated() ? "at most " : "",
                                        result.chain_overlap / n));
  }
  if (!result.shows && options.rule != AuditRule::greedy) {
    section.after.push_back(
        "  tokens are not judged: with so few records, or rows with one possible token, no deviation from p would "
        "have been found;");
    section.after.push_back("  use --rule greedy for an engine that emits a most likely token of each row");
  }
  if (result.draft_sampling == "unknown")
    section.after.push_back(
        "  drafts are not judged: the recording does not say how they are drawn (--draft-sampling)");
  if (options.rule == AuditRule::any_lossless)
    section.after.push_back(
        "  accept decisions are not judged: use --rule rejection if the engine verifies drafts one after another");
  return section;
}

/// Adds the families of bets to the data, and returns a section that shows where each has the largest excess.
Section add_families(nlohmann::ordered_json& data, const AuditResult& result) {
  Section section{.title = "Bets, and where each family has the largest excess"};
  for (const AuditFamily& family : result.families) {
    ResultRow row;
    row.text("bets", "bets on", {family.name}).count("draws", "draws", family.draws);
    row.fixed("weight", "weight", family.weight, 2);
    row.data("log10_e", decades(family.log_e)).number("e", {power_of_ten(family.log_e)});
    add_excess(row, family.worst);
    row.cell("first records", {fmt::format("{}", fmt::join(family.worst.first, ", "))});
    row.data("smallest_found", nlohmann::ordered_json::array());
    for (const SmallestFound& found : family.smallest) {
      nlohmann::ordered_json one{{"direction", found.direction}, {"total_variation", found.total_variation}};
      if (found.tilt != 0) one["tilt"] = found.tilt;
      row.record["smallest_found"].push_back(std::move(one));
    }
    section.table.add(data, std::move(row));
  }
  return section;
}

Section add_places(nlohmann::ordered_json& data, const AuditResult& result) {
  Section section{.title = "Positions in the block"};
  for (const AuditPlace& place : result.places) {
    ResultRow row;
    row.text("place", "place", {place.place}).count("records", "records", place.records);
    add_excess(row, place.worst);
    section.table.add(data, std::move(row));
  }
  return section;
}

/// Returns for each family of bets its tilts (properties/statistics/group_bets.hpp), and the shifts of mass that are
/// hardest and easiest to detect.
Section smallest_section(const AuditResult& result) {
  Section section{.title = "Smallest deviations that this recording would have shown with probability 0.99"};
  const auto add = [&section](const AuditFamily& family, const SmallestFound& found, const char* which) {
    ResultRow row;
    row.cell("bets on", {family.name}).cell("deviation", {which + found.direction});
    row.number("total variation", {fmt::format("{:.2f} %", 100 * found.total_variation)});
    row.number("tilt", {found.tilt != 0 ? fmt::format("{:.3f}", std::abs(found.tilt)) : ""});
    section.table.add(std::move(row));
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
      "  computed from normal approximations, for deviations along these directions; see docs/traces.md");
  return section;
}

}  // namespace

Document report_audit(const AuditResult& result, const Trace& trace, const AuditOptions& options, bool timings) {
  const double gigabytes = static_cast<double>(result.row_bytes) / 1e9;
  Document document;
  document.data = {{"schema", "draftproof.audit/2"},
                   {"trace", trace.file()},
                   {"engine", one_line(trace.metadata().value("engine", ""))},
                   {"status", to_text(result.status)},
                   {"stopped", result.stopped},
                   {"records", result.records},
                   {"blocks", result.blocks},
                   {"drafts", result.drafts},
                   {"vocabulary", trace.vocabulary()},
                   {"draft_sampling", result.draft_sampling},
                   {"rule", to_text(options.rule)},
                   {"share", options.share},
                   {"log10_e", decades(result.log_e)},
                   {"largest_log10_e", decades(result.largest_log_e)},
                   {"log10_threshold", decades(result.log_threshold)}};
  if (result.alarm_record) document.data["alarm_after_records"] = *result.alarm_record;
  if (result.shows)
    document.data["shows"] = {{"bets", result.shows->first},
                              {"direction", result.shows->second.direction},
                              {"total_variation", result.shows->second.total_variation}};
  if (timings) {
    document.data["seconds"] = result.seconds;
    document.data["gigabytes_per_second"] = gigabytes / result.seconds;
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
  Section first = verdict(result, trace, options);
  if (timings)
    first.after.push_back(fmt::format("  {:.2f} GB of rows in {:.2f} s, {:.2f} GB/s", gigabytes, result.seconds,
                                      gigabytes / result.seconds));
  document.sections = {std::move(first)};
  for (const char* list : {"families", "places"}) document.data[list] = nlohmann::ordered_json::array();
  document.sections.push_back(add_families(document.data["families"], result));
  document.sections.push_back(add_places(document.data["places"], result));
  document.sections.push_back(smallest_section(result));
  return document;
}

}  // namespace draftproof
