#include <draftproof/cli/report/proof_report.hpp>

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/cli/report/text.hpp>

namespace draftproof {

namespace {

nlohmann::ordered_json finding_data(const Finding& finding) {
  nlohmann::ordered_json data{
      {"check", finding.property}, {"status", to_text(finding.status)}, {"work", finding.work}};
  if (!finding.device.empty()) data["device"] = finding.device;
  if (!finding.evidence.empty()) data["evidence"] = finding.evidence;
  if (!finding.instance.empty()) data["counterexample"] = finding.instance;
  if (!finding.replay.empty()) data["replay"] = finding.replay;
  if (!finding.sensitivity.empty()) data["sensitivity"] = finding.sensitivity;
  for (const auto& [name, value] : finding.numbers) data[name] = value;
  return data;
}

/// Returns the failure to show: one of an output distribution if possible, else the first; null if nothing failed.
const Finding* shown_violation(const GateResult& result) {
  const Finding* shown = nullptr;
  const auto decides = [](const Finding& finding) {
    return finding.property == "exact_distribution" || finding.property == "completed_distribution" ||
           finding.property == "process_distribution" || finding.property == "output_distribution";
  };
  for (const Finding& finding : result.findings)
    if (finding.status == Status::failed && (!shown || (decides(finding) && !decides(*shown)))) shown = &finding;
  return shown;
}

/// Returns the lines on failed and undecided findings. Because one bug fails many checks, only one failure on an
/// instance is shown in full; the other failed checks are named.
std::vector<std::string> failure_lines(const GateResult& result) {
  std::vector<std::string> lines;
  const Finding* const shown = shown_violation(result);
  std::string others;
  for (const Finding& finding : result.findings) {
    if (finding.status != Status::failed && finding.status != Status::undecided) continue;
    if (finding.status == Status::failed && &finding != shown && !finding.instance.empty()) {
      others += (others.empty() ? "" : ", ") + finding.property;
      continue;
    }
    lines.push_back(fmt::format("  {} {}{}", finding.property, to_text(finding.status),
                                finding.instance.empty() ? "" : " on " + finding.instance));
    if (!finding.evidence.empty()) lines.push_back("    " + finding.evidence);
    if (!finding.replay.empty()) lines.push_back("    replay: " + finding.replay);
  }
  if (!others.empty()) lines.push_back("  also failed: " + others);
  return lines;
}

/// Returns a line for each passed gate that states how large a fault it would have detected.
std::vector<std::string> sensitivity_lines(std::span<const GateResult> results) {
  std::vector<std::string> lines;
  for (const GateResult& result : results) {
    if (result.status != Status::passed) continue;
    std::set<std::string> faults;
    for (const Finding& finding : result.findings)
      if (!finding.sensitivity.empty()) faults.insert(finding.sensitivity);
    if (!faults.empty())
      lines.push_back(
          fmt::format("  {}, {}: {}", result.gate.name(), to_text(result.gate.tier), fmt::join(faults, "; ")));
  }
  return lines;
}

/// Returns "all 12 gates passed", or the number of gates by verdict.
std::string summary_line(std::span<const GateResult> results) {
  const auto count = [&](Status status) {
    return std::count_if(results.begin(), results.end(),
                         [status](const GateResult& result) { return result.status == status; });
  };
  const auto all = counted(results.size(), "gate");
  std::string line;
  for (const Status status : {Status::failed, Status::undecided, Status::skipped})
    if (const auto number = count(status); number > 0) line += fmt::format(", {} {}", number, to_text(status));
  if (line.empty()) return fmt::format("{}{} passed", results.size() > 1 ? "all " : "", all);
  return fmt::format("of {} {} passed{}", all, count(Status::passed), line);
}

ResultRow row_of(const GateResult& result, bool timings) {
  const auto passed = std::count_if(result.findings.begin(), result.findings.end(),
                                    [](const Finding& finding) { return finding.status == Status::passed; });
  ResultRow row;
  row.text("verifier", "verifier", {result.gate.name()}).data("level", result.gate.level());
  row.text("tier", "tier", {std::string(to_text(result.gate.tier))});
  row.text("status", "verdict", status_cell(result.status)).data("draft_samplings", result.draft_samplings);
  row.number("checks passed", {fmt::format("{} of {}", passed, result.findings.size())});
  row.count("work", "work", result.work);
  row.number("seconds", {fmt::format("{:.2f}", result.seconds), Tone::faint}).cell("note", {result.note});
  if (timings) row.data("seconds", result.seconds);
  if (!result.note.empty()) row.data("note", result.note);
  for (const auto& [count, value] : result.counts) row.data(count.c_str(), value);
  for (const Finding& finding : result.findings) row.record["findings"].push_back(finding_data(finding));
  return row;
}

/// Returns a text with the names of the other failed checks.
std::string also(const KillRow& row) {
  return listed(row.findings, [first = row.catcher()](const Finding& finding) {
    return finding.status == Status::failed && &finding != first ? finding.property : "";
  });
}

Cell caught_by(const KillRow& row) {
  if (const Finding* first = row.catcher())
    return {fmt::format("{} ({})", first->property, to_text(first->tier)), Tone::good};
  return {"not caught", Tone::bad};
}

/// Returns the share of instances that refuted a mutant, "37 % of 240", or "-" if it was not counted.
Cell share_of(const KillRow& row) {
  if (!row.share || row.share->asked == 0) return {"-"};
  return {fmt::format("{} % of {}", 100 * row.share->shown / row.share->asked, row.share->asked),
          row.common() ? Tone::plain : Tone::bad};
}

/// Whether a table of the kill matrix has each optional column; `partner` is the title of the column of draft samplings
/// or verifiers.
struct KillColumns {
  std::string partner;
  bool lossy = false, shares = false, timings = false;
};

ResultRow row_of(const KillRow& row, const KillColumns& shown) {
  const Finding* const first = row.catcher();
  ResultRow line;
  line.data("level", row.level).text("mutant", "mutant", {row.name}).text("mutant_of", "a bug of", {row.mutant_of});
  line.text("with", shown.partner, {row.partner}).data("lossy_by_design", row.lossy).data("caught", row.caught());
  line.data("instances", row.instances).cell("caught by", caught_by(row)).cell("also failed", {also(row)});
  if (first) line.data("first", {{"check", first->property}, {"tier", to_text(first->tier)}, {"work", first->work}});
  if (const Finding* found = row.shown())
    line.data("shown", {{"check", found->property},
                        {"counterexample", found->instance},
                        {"evidence", found->evidence},
                        {"replay", found->replay}});
  for (const Finding& finding : row.findings)
    line.record["checks"].push_back({{"check", finding.property},
                                     {"tier", to_text(finding.tier)},
                                     {"status", draftproof::to_text(finding.status)}});
  if (row.distance) line.data("total_variation", {{"largest", *row.distance}, {"instance", row.farthest}});
  if (shown.lossy) line.number("lossy, TV to", {row.distance ? fmt::format("{:.4f}", *row.distance) : "-"});
  if (row.share) line.data("share", {{"shown", row.share->shown}, {"asked", row.share->asked}});
  if (shown.shares) line.number("refuted by", share_of(row));
  line.number("branches", {first ? grouped(first->work) : "-"});
  if (shown.timings) {
    line.data("seconds", row.seconds);
    line.number("seconds", {fmt::format("{:.2f}", row.seconds), Tone::faint});
  }
  return line.cell("smallest counterexample", {first ? row.shown()->instance : "-"});
}

/// Adds a table of `rows`, if there are any.
void add_table(Document& document, const std::string& title, const std::vector<const KillRow*>& rows,
               std::string partner, bool timings) {
  if (rows.empty()) return;
  const bool shares =
      std::any_of(rows.begin(), rows.end(), [](const KillRow* row) { return row->share.has_value(); });
  document.sections.push_back({.title = title});
  for (const KillRow* row : rows)
    document.sections.back().table.add(row_of(*row, {partner, row->lossy, shares, timings}));
}

Section replays_of(const KillMatrix& matrix) {
  Section section{.title = "Commands that replay the failures"};
  for (const KillRow& row : matrix.rows)
    if (const Finding* shown = row.shown()) {
      section.before.push_back(fmt::format("  {}: {} failed, {}", row.name, shown->property, shown->evidence));
      section.before.push_back("    " + shown->replay);
    }
  return section;
}

Section controls_of(const KillMatrix& matrix) {
  Section section{.title = "Controls"};
  std::set<std::string> verifiers;
  int instances = 0, proved = 0, accused = 0;
  for (const ControlRow& row : matrix.controls) {
    verifiers.insert(row.name);
    instances += row.instances;
    proved += row.provable;
    accused += row.accused.has_value();
  }
  section.before.push_back(fmt::format(
      "  {} with their draft samplings, {} in fractions, on {}: {}", counted(verifiers.size(), "correct verifier"),
      counted(static_cast<std::uint64_t>(proved), "pair"), counted(static_cast<std::uint64_t>(instances), "instance"),
      accused == 0 ? "no false alarm" : fmt::format("{} false alarms", accused)));
  for (const ControlRow& row : matrix.controls)
    if (row.accused) {
      section.before.push_back(fmt::format("  {} with {} drafts: {} failed on {}", row.name, row.distribution,
                                           row.accused->property, row.accused->instance));
      section.before.push_back("    " + row.accused->evidence);
      section.before.push_back("    replay: " + row.accused->replay);
    }
  return section;
}

}  // namespace

Document report_gates(std::span<const GateResult> results, const GateOptions& options, bool timings) {
  Document document;
  document.data = {{"schema", "draftproof.check/3"}, {"profile", options.profile.name}, {"seed", options.seed}};
  document.sections = {{.title = fmt::format("Gates, profile {}", options.profile.name)}};
  if (options.distance > 0) document.data["distance"] = options.distance;
  if (options.device) {
    document.data["device"] = options.device->name();
    document.sections[0].before.push_back(fmt::format(
        "  trials of the sampled tier on {} where the note says so; all else on the CPU", options.device->name()));
  }
  auto& gates = document.data["gates"] = nlohmann::ordered_json::array();
  for (const GateResult& result : results) {
    document.sections[0].table.add(gates, row_of(result, timings));
    if (auto lines = failure_lines(result); !lines.empty())
      document.sections.push_back({.title = fmt::format("{}, {}", result.gate.name(), to_text(result.gate.tier)),
                                   .before = std::move(lines)});
  }
  if (auto lines = sensitivity_lines(results); !lines.empty())
    document.sections.push_back({.title = "Faults that a passed gate would have shown", .before = std::move(lines)});
  document.sections.push_back({.title = {}, .before = {summary_line(results)}});
  return document;
}

Document report_gate_list(std::span<const Gate> gates) {
  Document document;
  document.data = {{"schema", "draftproof.gates/2"}, {"gates", nlohmann::ordered_json::array()}};
  document.sections = {{.title = "Gates"}};
  for (const Gate& gate : gates) {
    ResultRow row;
    row.text("verifier", "verifier", {gate.name()}).text("tier", "tier", {std::string(to_text(gate.tier))});
    row.text("level", "level", {std::string(gate.level())});
    document.sections[0].table.add(document.data["gates"], std::move(row));
  }
  return document;
}

Document report_kill_matrix(const KillMatrix& matrix, const KillOptions& options, bool timings) {
  Document document;
  document.data = {{"schema", "draftproof.mutants/3"},
                   {"seed", options.proof.seed},
                   {"instances", options.instances},
                   {"complete", !(options.proof.stop && options.proof.stop->load())},
                   {"clean", matrix.clean()},
                   {"mutants", nlohmann::ordered_json::array()},
                   {"controls", nlohmann::ordered_json::array()}};
  std::vector<std::string> levels;
  std::vector<const KillRow*> lossy;
  for (const KillRow& row : matrix.rows) {
    document.data["mutants"].push_back(row_of(row, {.partner = "", .timings = timings}).record);
    if (row.lossy)
      lossy.push_back(&row);
    else if (std::find(levels.begin(), levels.end(), row.level) == levels.end())
      levels.push_back(row.level);
  }
  for (const ControlRow& row : matrix.controls) {
    nlohmann::ordered_json data{{"level", row.level},
                                {"verifier", row.name},
                                {"draft_sampling", row.distribution},
                                {"instances", row.instances}};
    data["accused_by"] = row.accused ? nlohmann::ordered_json(row.accused->property) : nlohmann::ordered_json();
    document.data["controls"].push_back(std::move(data));
  }
  if (timings) document.data["seconds"] = matrix.seconds;
  for (const std::string& level : levels) {
    std::vector<const KillRow*> rows;
    for (const KillRow& row : matrix.rows)
      if (row.level == level && !row.lossy) rows.push_back(&row);
    const auto caught = std::count_if(rows.begin(), rows.end(), [](const KillRow* row) { return row->caught(); });
    add_table(document, fmt::format("Mutants: {}, {} of {} caught", level, caught, rows.size()), rows,
              level.ends_with("drafters") ? "verifier" : "draft sampling", timings);
  }
  add_table(document, "Lossy by design", lossy, "draft sampling", timings);
  document.sections.push_back(replays_of(matrix));
  document.sections.push_back(controls_of(matrix));
  return document;
}

}  // namespace draftproof
