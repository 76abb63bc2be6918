#include <draftproof/bench/page/page.hpp>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include <draftproof/bench/page/chapters.hpp>
#include <draftproof/bench/page/matrix.hpp>
#include <draftproof/bench/results/tables.hpp>
#include <draftproof/bench/results/units.hpp>
#include <draftproof/captures/written_file.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/report/writers/markdown.hpp>

namespace draftproof::benchmarks {

namespace {

std::string rendered(Section section) {
  std::ostringstream out;
  writers::Markdown::write({{}, {std::move(section)}}, out, {});
  std::string text = out.str();
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text + "\n";
}

/// A matrix if names have numbers, else one row per benchmark with its counters.
std::string tables_for(const std::vector<const Measurement*>& members, const CellText& cell) {
  const bool numbered = std::any_of(members.begin(), members.end(),
                                    [](const Measurement* one) { return !split_name(one->name).numbers.empty(); });
  if (!numbered) return "\n" + rendered({.title = {}, .table = table_of(members, "")});
  std::string text;
  for (const auto& part : parts_of(members)) text += "\n" + rendered({.title = {}, .table = matrix_of(part, cell)});
  return text;
}

CellText time_cell(bool rate) {
  return [rate](const Measurement& one) {
    const double seconds = one.spread().median;
    return rate ? rate_text(1 / seconds) : time_text(seconds);
  };
}

/// Tables of one counter; empty if no member has it.
std::string counter_tables(std::vector<const Measurement*> members, const std::string& counter) {
  std::erase_if(members, [&](const Measurement* one) { return !one->counters.contains(counter); });
  if (members.empty()) return {};
  return "\nCounter `" + counter + "`:\n" +
         tables_for(members, [&](const Measurement& one) { return count_text(one.counters.at(counter)); });
}

std::vector<const Measurement*> members_of(const Results& results, const std::string& group) {
  std::vector<const Measurement*> members;
  for (const Measurement& measurement : results.measurements)
    if (measurement.group() == group) members.push_back(&measurement);
  return members;
}

std::string skipped_lines(const std::vector<const Measurement*>& members) {
  std::set<std::string> reasons;
  for (const Measurement* measurement : members)
    if (!measurement->timed()) reasons.insert(measurement->skipped);
  std::string lines;
  for (const std::string& reason : reasons) lines += "\nSkipped: " + reason + "\n";
  return lines;
}

std::string chapter_text(const Results& results, const Chapter& chapter, std::set<std::string>& shown) {
  std::string text;
  for (const std::string& group : chapter.groups) {
    shown.insert(group);
    const auto members = members_of(results, group);
    if (members.empty()) continue;
    text += tables_for(members, time_cell(chapter.rate)) + skipped_lines(members);
  }
  for (const std::string& counter : chapter.counters)
    text += counter_tables(members_of(results, chapter.groups.front()), counter);
  return text.empty() ? text : "\n## " + chapter.title + "\n\n" + chapter.about + "\n" + text;
}

std::string worst_spread(const Results& results) {
  std::vector<double> spreads;
  for (const Measurement& measurement : results.measurements)
    if (measurement.seconds.size() > 1) spreads.push_back(measurement.spread().relative());
  if (spreads.empty()) return {};
  const Spread all = spread_of(std::move(spreads));
  return fmt::format(
      "Half the range of repetitions was {:.1f} % of the median for the middle benchmark of this run and "
      "{:.0f} % for the worst.\n",
      100 * all.median, 100 * all.high);
}

/// The benchmarks of one decision of each verifier, without mutants, at the size where passes cost most.
bool is_cost_of_a_scheme(const std::string& plain_name) {
  static const std::regex cost("cost/([^/]*)/[^/]*/128256/4");
  std::smatch parts;
  if (!std::regex_match(plain_name, parts, cost)) return false;
  const AnyVerifier* verifier = registry().verifier(parts.str(1));
  return verifier != nullptr && verifier->kind() == Kind::verifier;
}

}  // namespace

bool on_page(const std::string& plain_name, const std::vector<Goal>& goals) {
  for (const Goal& goal : goals)
    if (plain_name == benchmarks::plain_name(goal.slower) || plain_name == benchmarks::plain_name(goal.faster))
      return true;
  static const std::set<std::string> of_every_scheme{"simulate", "naive", "lazy",  "peaked", "threads",  "cost",
                                                     "cold",     "steps", "prove", "gate",   "step_cost"};
  if (!of_every_scheme.contains(plain_name.substr(0, plain_name.find('/')))) return true;
  static const std::regex wanted(
      "(simulate|naive|lazy|peaked|threads/[12]|cost|cold)/"
      "(single_draft|recursive_rejection|recursive_rejection_wor|k_seq|ladder)/(iid|without_replacement)/.*"
      "|(steps|step_cost)/(token_path|block|traversal|layerwise_rejection|greedy_multipath_block|branch_reentry|"
      "ladder_block|recursive_rejection_tree)/iid_paths/.*"
      "|step_cost/refused/.*"
      "|prove/(all|kill_matrix)|gate/.*/(17|24)");
  return std::regex_match(plain_name, wanted) || is_cost_of_a_scheme(plain_name);
}

std::string page_text(const Results& results, const std::vector<Figure>& figures, const std::string& folder) {
  const auto& context = results.context;
  std::string text = method_text(context.value("repetitions", 0), context.value("min_time", 0.0));
  text += "\n## This run\n\n" + machine_line(context) + "\n";
  if (const std::string warning = context.value("warning", ""); !warning.empty()) text += "\n" + warning + ".\n";
  if (!results.complete) text += "\nThe run was stopped early: repetitions are missing.\n";
  if (const std::string spread = worst_spread(results); !spread.empty()) text += "\n" + spread;
  if (const auto judged = judge(results.goals, results); !judged.empty()) {
    text +=
        "\n## Goals\n\nTime per item of the first over that of the second, medians; \"rounds\" is the range of the "
        "ratio over single rounds. A goal\nis met if every round meets it, and not met if none does.\n\n" +
        rendered({.title = {}, .table = table_of(judged), .after = {summary_of(judged)}});
  }
  for (const Figure& figure : figures)
    text += fmt::format("\n![{}]({}/{})\n\n{}\n", figure.plot.title, folder, figure.file, figure.caption);
  std::set<std::string> shown;
  for (const Chapter& chapter : chapters()) text += chapter_text(results, chapter, shown);
  for (const Measurement& measurement : results.measurements)  // groups without a chapter, one each
    if (const std::string group = measurement.group(); !shown.contains(group))
      text += chapter_text(results, {group, "Group `" + group + "`.", {group}, false, {}}, shown);
  return text;
}

void write_page(const Results& results, const std::string& file) {
  namespace fs = std::filesystem;
  const fs::path page(file), folder = page.parent_path() / page.stem();
  const auto figures = figures_of(results);
  write_whole(page, page_text(results, figures, folder.filename().string()));
  std::error_code failed;  // a failure shows when the plots are written
  if (!figures.empty()) fs::create_directories(folder, failed);
  for (const Figure& figure : figures) write_whole(folder / figure.file, drawn(figure.plot).file());
}

}  // namespace draftproof::benchmarks
