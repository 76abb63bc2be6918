#include <draftproof/report/gate_report.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <draftproof/report/text.hpp>

namespace draftproof {

namespace {

Cell status_cell(Status status) {
  const Tone tone = status == Status::violated ? Tone::bad : status == Status::held ? Tone::good : Tone::plain;
  return {std::string(to_text(status)), tone};
}

nlohmann::ordered_json finding_data(const GateFinding& finding) {
  nlohmann::ordered_json data{{"check", finding.check}, {"status", to_text(finding.status)}, {"work", finding.work}};
  if (!finding.device.empty()) data["device"] = finding.device;
  if (!finding.evidence.empty()) data["evidence"] = finding.evidence;
  if (!finding.instance.empty()) data["counterexample"] = finding.instance;
  if (!finding.replay.empty()) data["replay"] = finding.replay;
  for (const auto& [name, value] : finding.numbers) data[name] = value;
  return data;
}

/// The violation to show: of the law if there is one, else the first. Null if there is none.
const GateFinding* shown_violation(const GateResult& result) {
  const GateFinding* shown = nullptr;
  const auto decides = [](const GateFinding& finding) {
    return finding.check == "exact_law" || finding.check == "completed_law" || finding.check == "process_law";
  };
  for (const GateFinding& finding : result.findings)
    if (finding.status == Status::violated && (!shown || (decides(finding) && !decides(*shown)))) shown = &finding;
  return shown;
}

/// One bug breaks many checks: one violation with its instance, the names of the others, and the undecided findings.
/// Empty if there are none.
std::vector<std::string> failure_lines(const GateResult& result) {
  std::vector<std::string> lines;
  const GateFinding* const shown = shown_violation(result);
  std::string others;
  for (const GateFinding& finding : result.findings) {
    if (finding.status != Status::violated && finding.status != Status::undecided) continue;
    if (finding.status == Status::violated && &finding != shown && !finding.instance.empty()) {
      others += (others.empty() ? "" : ", ") + finding.check;
      continue;
    }
    lines.push_back(fmt::format("  {} {}{}", finding.check, to_text(finding.status),
                                finding.instance.empty() ? "" : " on " + finding.instance));
    if (!finding.evidence.empty()) lines.push_back("    " + finding.evidence);
    if (!finding.replay.empty()) lines.push_back("    replay: " + finding.replay);
  }
  if (!others.empty()) lines.push_back("  also violated: " + others);
  return lines;
}

/// "all 12 gates held", or how many did not.
std::string summary_line(std::span<const GateResult> results) {
  const auto count = [&](Status status) {
    return std::count_if(results.begin(), results.end(),
                         [status](const GateResult& result) { return result.status == status; });
  };
  const auto all = counted(results.size(), "gate");
  std::string line;
  for (const Status status : {Status::violated, Status::undecided, Status::skipped})
    if (const auto number = count(status); number > 0) line += fmt::format(", {} {}", number, to_text(status));
  if (line.empty()) return fmt::format("{}{} held", results.size() > 1 ? "all " : "", all);
  return fmt::format("of {} {} held{}", all, count(Status::held), line);
}

}  // namespace

Document report_gates(std::span<const GateResult> results, const GateOptions& options, bool timings) {
  Document document;
  document.data = {{"schema", "draftproof.check/2"}, {"profile", options.profile.name}, {"seed", options.seed}};
  Section table{.title = fmt::format("Gates, profile {}", options.profile.name)};
  if (options.distance > 0) document.data["distance"] = options.distance;
  if (options.device) {
    document.data["device"] = options.device->name();
    table.before.push_back(fmt::format(
        "  trials of the sampled tier on {} where the note says so; all else on the CPU", options.device->name()));
  }
  document.data["gates"] = nlohmann::ordered_json::array();
  table.table.columns = {{"verifier"},   {"tier"},          {"verdict"}, {"checks held", true},
                         {"work", true}, {"seconds", true}, {"note"}};
  std::vector<Section> failures;
  for (const GateResult& result : results) {
    const auto held = std::count_if(result.findings.begin(), result.findings.end(),
                                    [](const GateFinding& finding) { return finding.status == Status::held; });
    const std::string name = result.gate.name(), tier(to_text(result.gate.tier));
    table.table.rows.push_back({{name},
                                {tier},
                                status_cell(result.status),
                                {fmt::format("{} of {}", held, result.findings.size())},
                                {grouped(result.work)},
                                {fmt::format("{:.2f}", result.seconds), Tone::faint},
                                {result.note}});
    nlohmann::ordered_json data{{"verifier", name},    {"level", result.gate.level()},
                                {"tier", tier},        {"status", to_text(result.status)},
                                {"laws", result.laws}, {"work", result.work}};
    if (timings) data["seconds"] = result.seconds;
    if (!result.note.empty()) data["note"] = result.note;
    for (const auto& [count, value] : result.counts) data[count] = value;
    for (const GateFinding& finding : result.findings) data["findings"].push_back(finding_data(finding));
    document.data["gates"].push_back(std::move(data));
    if (auto lines = failure_lines(result); !lines.empty())
      failures.push_back({.title = fmt::format("{}, {}", name, tier), .before = std::move(lines)});
  }
  document.sections.push_back(std::move(table));
  for (auto& failure : failures) document.sections.push_back(std::move(failure));
  document.sections.push_back({.title = {}, .before = {summary_line(results)}});
  return document;
}

Document report_gate_list(std::span<const Gate> gates) {
  Document document;
  document.data = {{"schema", "draftproof.gates/1"}, {"gates", nlohmann::ordered_json::array()}};
  Section table{.title = "Gates"};
  table.table.columns = {{"verifier"}, {"tier"}, {"level"}};
  for (const Gate& gate : gates) {
    table.table.rows.push_back({{gate.name()}, {std::string(to_text(gate.tier))}, {std::string(gate.level())}});
    document.data["gates"].push_back(
        {{"verifier", gate.name()}, {"tier", to_text(gate.tier)}, {"level", gate.level()}});
  }
  document.sections.push_back(std::move(table));
  return document;
}

}  // namespace draftproof
