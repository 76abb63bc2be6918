#include <draftproof/report/kill_matrix_report.hpp>

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include <draftproof/report/text.hpp>

namespace draftproof {

namespace {

/// The names of the other violated checks.
std::string also(const KillRow& row) {
  std::string text;
  for (std::size_t n = 0; n < row.findings.size(); ++n)
    if (static_cast<int>(n) != row.first && row.findings[n].status == Status::violated)
      text += (text.empty() ? "" : ", ") + row.findings[n].check;
  return text;
}

Cell caught_by(const KillRow& row) {
  if (const GateFinding* first = row.catcher())
    return {fmt::format("{} ({})", first->check, to_text(first->tier)), Tone::good};
  return {"not caught", Tone::bad};
}

nlohmann::ordered_json row_data(const KillRow& row, bool timings) {
  nlohmann::ordered_json data{
      {"level", row.level},           {"mutant", row.name},     {"mutant_of", row.mutant_of}, {"with", row.partner},
      {"lossy_by_design", row.lossy}, {"caught", row.caught()}, {"instances", row.instances}};
  if (const GateFinding* first = row.catcher())
    data["first"] = {{"check", first->check}, {"tier", to_text(first->tier)}, {"work", first->work}};
  if (const GateFinding* shown = row.shown())
    data["shown"] = {{"check", shown->check},
                     {"counterexample", shown->instance},
                     {"evidence", shown->evidence},
                     {"replay", shown->replay}};
  for (const GateFinding& finding : row.findings)
    data["checks"].push_back(
        {{"check", finding.check}, {"tier", to_text(finding.tier)}, {"status", draftproof::to_text(finding.status)}});
  if (row.distance) data["total_variation"] = {{"largest", *row.distance}, {"instance", row.farthest}};
  if (row.share) data["share"] = {{"shown", row.share->shown}, {"asked", row.share->asked}};
  if (timings) data["seconds"] = row.seconds;
  return data;
}

/// "37 % of 240"; nothing where no share was counted.
Cell share_of(const KillRow& row) {
  if (!row.share || row.share->asked == 0) return {"-"};
  return {fmt::format("{} % of {}", 100 * row.share->shown / row.share->asked, row.share->asked),
          row.common() ? Tone::plain : Tone::bad};
}

Section table_of(std::string title, const std::vector<const KillRow*>& rows, std::string partner, bool timings) {
  const bool lossy = !rows.empty() && rows.front()->lossy;
  const bool shares =
      std::any_of(rows.begin(), rows.end(), [](const KillRow* row) { return row->share.has_value(); });
  Section section{.title = std::move(title)};
  section.table.columns = {{"mutant"}, {"a slip of"}, {std::move(partner)}, {"caught by"}, {"also violated"}};
  if (lossy) section.table.columns.push_back({"lossy, TV to", true});
  if (shares) section.table.columns.push_back({"shown by", true});
  section.table.columns.push_back({"branches", true});
  if (timings) section.table.columns.push_back({"seconds", true});
  section.table.columns.push_back({"smallest counterexample"});
  for (const KillRow* row : rows) {
    const GateFinding* first = row->catcher();
    std::vector<Cell> cells{{row->name}, {row->mutant_of}, {row->partner}, caught_by(*row), {also(*row)}};
    if (lossy) cells.push_back({row->distance ? fmt::format("{:.4f}", *row->distance) : "-"});
    if (shares) cells.push_back(share_of(*row));
    cells.push_back({first ? grouped(first->work) : "-"});
    if (timings) cells.push_back({fmt::format("{:.2f}", row->seconds), Tone::faint});
    cells.push_back({first ? row->shown()->instance : "-"});
    section.table.rows.push_back(std::move(cells));
  }
  return section;
}

Section replays_of(const KillMatrix& matrix) {
  Section section{.title = "How to see each again"};
  for (const KillRow& row : matrix.rows)
    if (const GateFinding* shown = row.shown()) {
      section.before.push_back(fmt::format("  {}: {} violated, {}", row.name, shown->check, shown->evidence));
      section.before.push_back("    " + shown->replay);
    }
  return section;
}

Section controls_of(const KillMatrix& matrix) {
  Section section{.title = "Controls"};
  std::set<std::string> verifiers;
  int instances = 0, walked = 0, accused = 0;
  for (const ControlRow& row : matrix.controls) {
    verifiers.insert(row.name);
    instances += row.instances;
    walked += row.provable;
    accused += row.accused.has_value();
  }
  section.before.push_back(fmt::format(
      "  {} with their draft laws, {} in fractions, on {}: {}", counted(verifiers.size(), "correct verifier"),
      counted(static_cast<std::uint64_t>(walked), "pair"), counted(static_cast<std::uint64_t>(instances), "instance"),
      accused == 0 ? "none accused" : fmt::format("{} accused", accused)));
  for (const ControlRow& row : matrix.controls)
    if (row.accused) {
      section.before.push_back(fmt::format("  {} with {} drafts: {} violated on {}", row.name, row.law,
                                           row.accused->check, row.accused->instance));
      section.before.push_back("    " + row.accused->evidence);
      section.before.push_back("    replay: " + row.accused->replay);
    }
  return section;
}

}  // namespace

Document report_kill_matrix(const KillMatrix& matrix, const KillOptions& options, bool timings) {
  Document document;
  document.data = {{"schema", "draftproof.mutants/2"},
                   {"seed", options.proof.seed},
                   {"instances", options.instances},
                   {"complete", !(options.proof.stop && options.proof.stop->load())},
                   {"clean", matrix.clean()},
                   {"mutants", nlohmann::ordered_json::array()},
                   {"controls", nlohmann::ordered_json::array()}};
  std::vector<std::string> levels;
  std::vector<const KillRow*> lossy;
  for (const KillRow& row : matrix.rows) {
    document.data["mutants"].push_back(row_data(row, timings));
    if (row.lossy)
      lossy.push_back(&row);
    else if (std::find(levels.begin(), levels.end(), row.level) == levels.end())
      levels.push_back(row.level);
  }
  for (const ControlRow& row : matrix.controls) {
    nlohmann::ordered_json data{
        {"level", row.level}, {"verifier", row.name}, {"law", row.law}, {"instances", row.instances}};
    data["accused_by"] = row.accused ? nlohmann::ordered_json(row.accused->check) : nlohmann::ordered_json();
    document.data["controls"].push_back(std::move(data));
  }
  if (timings) document.data["seconds"] = matrix.seconds;
  for (const std::string& level : levels) {
    std::vector<const KillRow*> rows;
    for (const KillRow& row : matrix.rows)
      if (row.level == level && !row.lossy) rows.push_back(&row);
    const auto caught = std::count_if(rows.begin(), rows.end(), [](const KillRow* row) { return row->caught(); });
    document.sections.push_back(
        table_of(fmt::format("Mutants: {}, {} of {} caught", level, caught, rows.size()), rows,
                 level == "drafters" || level == "tree drafters" ? "verifier" : "draft law", timings));
  }
  if (!lossy.empty()) document.sections.push_back(table_of("Lossy by design", lossy, "draft law", timings));
  document.sections.push_back(replays_of(matrix));
  document.sections.push_back(controls_of(matrix));
  return document;
}

}  // namespace draftproof
