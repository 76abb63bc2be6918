#include <draftproof/bench/page/page.hpp>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include <draftproof/captures/written_file.hpp>
#include <draftproof/cli/report/page/data.hpp>
#include <draftproof/cli/report/page/page.hpp>
#include <draftproof/cli/report/registration.hpp>
#include <draftproof/cli/report/text.hpp>
#include <draftproof/cli/report/writers/writers.hpp>
#include <draftproof/properties/prover/registry.hpp>

namespace draftproof::benchmarks {

namespace {

struct Chapter {
  std::string title, about;
  std::vector<std::string> groups;
  bool rate = false;                    ///< whether the tables show items per second instead of time per item
  std::vector<std::string> counters{};  ///< counters of the first group that get a table each
};

std::string method_text(int repetitions, double min_time) {
  return fmt::format(
      R"(# Performance

Written by `./dev bench --page docs/performance.md`; every number is from that run. `--json --output FILE` keeps the run,
`draftproof bench report FILE --page PAGE` renders it again, `draftproof bench compare OLD NEW` compares two.

## How it is measured

- One thread. Times are processor time of that thread (CLOCK_THREAD_CPUTIME_ID), so other processes on the machine
  count only through shared caches and memory bandwidth.
- {} rounds. A round runs every benchmark once, for at least {:g} s, in a random order of its own. Figures are
  medians over rounds.
- Goals are ratios of two benchmarks of the same rounds, because ratios differ less from run to run and from machine to
  machine than times do.
- Lower bounds (`lower_bound/...`) do only the unavoidable part: read the rows, sort the keys. They are measured in the
  same run.
- Peers (`peer/...`) are the usual implementations without draftproof, in numpy and scipy and with Clp, on one thread
  and the same rows. Python peers report their own processor time, without the start of the interpreter.
- Rows are softmax of Gaussian logits: target N(0, 2.5 squared), draft logits the target's plus N(0, 1). Optima at
  small V use 1.5 squared.
- Hot: the same rows every time, in the smallest cache that holds 8 V bytes. Cold: the rows rotate over copies of twice
  the size of the last cache, at least 600 MB.
- An item is a trial, a decision, a step, an optimum or an instance. The time of simulations and steps includes
  drafting, the time of decisions does not.
)",
      repetitions, min_time);
}

const std::vector<Chapter>& chapters() {
  static const std::vector<Chapter> all{
      {"Simulation",
       "Trials a second on tables prepared once: drafts drawn, verified and counted. Columns: V / K. `naive` is the "
       "same\n"
       "source on plain rows, O(K V) a trial.",
       {"simulate", "naive"},
       true,
       {"acceptance"}},
      {"Peers in numpy and scipy",
       "Time per trial; for `peer/scipy` and `peer/clp`, time per computed optimum. Columns: V / K.",
       {"peer"}},
      {"Decisions from fresh rows",
       "Time of one decision when p and q are new, as in an engine: plan and verdict. Columns: V / K.",
       {"cost", "cold"},
       false,
       {"passes", "bytes"}},
      {"Formats of rows",
       "One decision on rows of another format, the rows' logits turned into probabilities, and powers of e one by "
       "one.\n"
       "Columns: V, V / K.",
       {"rows", "softmax", "exp"}},
      {"Lower bounds", "The least work of any decision or optimum. Columns: V.", {"lower_bound", "read"}},
      {"The optimum",
       "Time from rows to the optimum, and to the table from which it can be read. Columns: V / K.",
       {"optimum", "table"},
       false,
       {"optimum"}},
      {"Steps", "Time per iteration on a tree: drafted, verified, counted. Columns: V / K / depth.", {"steps"}},
      {"Proofs", "Exact fractions, one thread. An item is an instance; in the kill matrix it is a row.", {"prove"}},
      {"The statistical gate", "One evaluation after 2^n trials. Columns: V / n.", {"gate"}},
  };
  return all;
}

std::string column_title(const std::vector<int>& numbers) {
  std::string title;
  for (const int number : numbers)
    title += (title.empty() ? "" : " / ") + grouped(static_cast<std::uint64_t>(number));
  return title;
}

template <class T>
std::size_t place_in(std::vector<T>& list, const T& value) {
  const auto at = std::find(list.begin(), list.end(), value) - list.begin();
  if (at == std::ssize(list)) list.push_back(value);
  return static_cast<std::size_t>(at);
}

}  // namespace

SplitName split_name(const std::string& name) {
  SplitName split;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('/', at), name.size());
    int number = 0;
    const auto [stop, error] = std::from_chars(name.data() + at, name.data() + end, number);
    if (error == std::errc{} && stop == name.data() + end && number >= 0)
      split.numbers.push_back(number);
    else
      split.words += (split.words.empty() ? "" : "/") + name.substr(at, end - at);
    at = end + 1;
  }
  return split;
}

std::vector<std::vector<const Measurement*>> parts_of(const std::vector<const Measurement*>& measurements) {
  struct Part {
    std::set<std::string> rows;
    std::set<std::vector<int>> columns;
  };
  std::vector<Part> parts;
  for (const Measurement* measurement : measurements) {
    const SplitName split = split_name(measurement->name);
    Part joined{{split.words}, {split.numbers}};
    std::vector<Part> apart;
    for (Part& part : parts) {
      if (part.rows.contains(split.words) || part.columns.contains(split.numbers)) {
        joined.rows.merge(part.rows);
        joined.columns.merge(part.columns);
      } else {
        apart.push_back(std::move(part));
      }
    }
    apart.push_back(std::move(joined));
    parts = std::move(apart);
  }
  std::vector<std::vector<const Measurement*>> found;
  std::map<const Part*, std::size_t> place;  // parts in the order of their first measurement
  for (const Measurement* measurement : measurements)
    for (const Part& part : parts) {
      if (!part.rows.contains(split_name(measurement->name).words)) continue;
      const auto [at, is_new] = place.try_emplace(&part, found.size());
      if (is_new) found.emplace_back();
      found[at->second].push_back(measurement);
    }
  return found;
}

Table matrix_of(const std::vector<const Measurement*>& measurements, const CellText& text) {
  std::vector<std::string> names;
  std::vector<std::vector<int>> columns;
  for (const Measurement* measurement : measurements) place_in(columns, split_name(measurement->name).numbers);
  std::sort(columns.begin(), columns.end());
  Table table{.columns = {{"benchmark"}}, .rows = {}};
  for (const auto& numbers : columns) table.columns.push_back({column_title(numbers), true});
  for (const Measurement* measurement : measurements) {
    const SplitName split = split_name(measurement->name);
    const std::size_t row = place_in(names, split.words);
    if (row == table.rows.size()) {
      table.rows.emplace_back(columns.size() + 1);
      table.rows.back().front().text = "`" + split.words + "`";
    }
    table.rows[row][place_in(columns, split.numbers) + 1].text = measurement->timed() ? text(*measurement) : "-";
  }
  return table;
}

namespace {

struct Line {
  const char *label, *name;
  bool dashed = false;
};

// Lines of the two plots of the page, each with the names of its benchmarks. The tables also show benchmarks without a
// line.
constexpr Line costs[] = {
    {"single_draft", "cost/single_draft/iid/{}/1"},
    {"recursive_rejection, K = 4", "cost/recursive_rejection/iid/{}/4"},
    {"recursive_rejection_wor, K = 4", "cost/recursive_rejection_wor/without_replacement/{}/4"},
    {"k_seq, K = 4", "cost/k_seq/iid/{}/4"},
    {"ladder, K = 4", "cost/ladder/iid/{}/4"},
    {"single_draft, cold", "cold/single_draft/iid/{}/1"},
    {"recursive_rejection, cold", "cold/recursive_rejection/iid/{}/4"},
    {"lower bound: p and q read", "read/float32/{}", true},
    {"lower bound: p and q read, cold", "read/float32/{}/cold", true},
};
constexpr Line rates[] = {
    {"recursive_rejection", "simulate/recursive_rejection/iid/128256/{}"},
    {"recursive_rejection_wor", "simulate/recursive_rejection_wor/without_replacement/128256/{}"},
    {"k_seq", "simulate/k_seq/iid/128256/{}"},
    {"ladder", "simulate/ladder/iid/128256/{}"},
    {"plain rows, recursive_rejection", "naive/recursive_rejection/iid/128256/{}", true},
    {"numpy, expert", "peer/numpy/expert/128256/{}", true},
    {"numpy, batched tensors", "peer/numpy/batched/128256/{}", true},
    {"numpy, loop", "peer/numpy/loop/128256/{}", true},
};

void add(plots::LinePlot& plot, plots::Series series) {
  if (series.points.size() > 1) plot.series.push_back(std::move(series));
}

/// Returns the names WHAT of the lower bounds "lower_bound/WHAT/V".
std::vector<std::string> lower_bounds_of(const Results& results) {
  constexpr std::string_view group = "lower_bound/";
  std::vector<std::string> lower_bounds;
  for (const Measurement& measurement : results.measurements) {
    const auto slash = measurement.name.rfind('/');
    if (!measurement.name.starts_with(group) || slash < group.size()) continue;
    const std::string what = measurement.name.substr(group.size(), slash - group.size());
    if (std::find(lower_bounds.begin(), lower_bounds.end(), what) == lower_bounds.end()) lower_bounds.push_back(what);
  }
  return lower_bounds;
}

}  // namespace

plots::Series series_of(const Results& results, const std::string& label, const std::string& name, bool rate,
                        bool dashed) {
  plots::Series series{label, {}, dashed ? plots::Stroke::dashed : plots::Stroke::solid};
  const auto open = name.find("{}");
  const std::string before = name.substr(0, open), after = name.substr(open + 2);
  for (const Measurement& measurement : results.measurements) {
    const std::string& found = measurement.name;
    if (!measurement.timed() || found.size() <= before.size() + after.size() || !found.starts_with(before) ||
        !found.ends_with(after))
      continue;
    const std::string number = found.substr(before.size(), found.size() - before.size() - after.size());
    int value = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (error != std::errc{} || end != number.data() + number.size() || value <= 0) continue;
    const Spread spread = measurement.spread();
    const auto y = [rate](double seconds) { return rate ? 1 / seconds : seconds; };
    series.points.push_back({static_cast<double>(value),
                             y(spread.median),
                             y(rate ? spread.high : spread.low),
                             y(rate ? spread.low : spread.high),
                             {}});
  }
  std::sort(series.points.begin(), series.points.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
  return series;
}

namespace {

/// Returns the figures with at least one series; series of fewer than two points are left out.
std::vector<Figure> figures_of(const Results& results) {
  plots::LinePlot cost{.title = "One decision from fresh rows",
                       .x_label = "V, tokens of the vocabulary",
                       .y_label = "processor time a decision",
                       .y_tick = plots::time_tick};
  for (const auto& [label, name, dashed] : costs) add(cost, series_of(results, label, name, false, dashed));
  // A plot with lower bounds but no measured cost is left out.
  if (!cost.empty())
    for (const std::string& lower_bound : lower_bounds_of(results))
      add(cost, series_of(results, "lower bound: " + lower_bound, "lower_bound/" + lower_bound + "/{}", false, true));
  plots::LinePlot rate{.title = "Simulation at V = 128,256, one core",
                       .x_label = "K, drafts a trial",
                       .y_label = "trials a second",
                       .y_tick = plots::rate_tick};
  for (const auto& [label, name, dashed] : rates) add(rate, series_of(results, label, name, true, dashed));
  std::vector<Figure> figures{
      {"cost.svg", "Cost of a decision against the vocabulary size; rows in cache unless cold.", std::move(cost)},
      {"throughput.svg", "Trials a second against the number of drafts, drafting included.", std::move(rate)}};
  std::erase_if(figures, [](const Figure& figure) { return figure.plot.empty(); });
  for (Figure& figure : figures) {
    figure.plot.x_tick = plots::whole_tick;
    figure.plot.x_ticks = plots::LinePlot::Ticks::at_points_logarithmic;
    figure.plot.logarithmic = true;
    figure.plot.width = 640;  // for a page of Markdown
    figure.plot.plane = 340;
  }
  return figures;
}

constexpr double usual_threshold = 0.05;  // the default threshold of `bench compare`

bool of_benchmarks(const page::Json& data) {
  return page::begins(page::text_of(data, "schema"), "draftproof.bench/");
}

}  // namespace

bool add_to_pages() {
  page::found_figures().push_back([](const page::Json& data, std::vector<page::Figure>& figures) {
    if (!of_benchmarks(data)) return;
    for (Figure& figure : figures_of(results_of(data, "benchmarks"))) {
      figure.plot.width = 400;  // the page shows two or three figures of this width side by side
      figure.plot.plane = 240;
      figures.push_back({std::move(figure.caption), drawn(figure.plot)});
    }
  });
  page::found_cost_comparisons().push_back([](const page::Json& before, const page::Json& after) {
    std::vector<page::CostChange> changes;
    if (!of_benchmarks(before) || !of_benchmarks(after)) return changes;
    for (const Compared& one : compare(results_of(before, "old"), results_of(after, "new"), usual_threshold))
      if (one.change == Change::faster || one.change == Change::slower)
        changes.push_back({one.name, time_text(one.old_spread.median), time_text(one.new_spread.median),
                           one.change == Change::slower});
    return changes;
  });
  // A missed goal gets Grade::open, not Grade::bad, because times depend on the machine, so a miss does not prove a
  // scheme wrong.
  page::found_verdict_readers().push_back([](const page::Json& data, std::vector<page::Verdict>& verdicts) {
    if (!of_benchmarks(data)) return;
    const Results results = results_of(data, "benchmarks");
    for (const Judged& one : judge(results.goals, results)) {
      const bool met = one.verdict == GoalResult::met, run = one.verdict != GoalResult::not_run;
      verdicts.push_back(
          {.kind = "goal",
           .subject = one.goal.what,
           .where = "",
           .text = one.text(),
           .grade = met ? page::Grade::good : page::Grade::open,
           .detail =
               !run ? ""
                    : fmt::format("ratio {:.3g}, expected {} {:g}", one.ratio,
                                  one.goal.sense == Goal::Sense::at_least ? "at least" : "at most", one.goal.bound)});
    }
  });
  return true;
}

namespace {

std::string rendered(Section section) {
  std::ostringstream out;
  writers::Markdown::write({{}, {std::move(section)}}, out, {});
  std::string text = out.str();
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text + "\n";
}

/// Returns matrices (see matrix_of) if names of benchmarks contain numbers such as V and K, else a table with one row
/// per benchmark and its counters.
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

/// Returns tables of one counter; empty if no benchmark in `members` has the counter.
std::string counter_tables(std::vector<const Measurement*> members, const std::string& counter) {
  std::erase_if(members, [&](const Measurement* one) { return !one->counters.contains(counter); });
  if (members.empty()) return {};
  return "\nCounter `" + counter + "`:\n" +
         tables_for(members, [&](const Measurement& one) { return count_text(one.counters.at(counter)); });
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
    const auto members = results.members(group);
    if (members.empty()) continue;
    text += tables_for(members, time_cell(chapter.rate)) + skipped_lines(members);
  }
  for (const std::string& counter : chapter.counters)
    text += counter_tables(results.members(chapter.groups.front()), counter);
  return text.empty() ? text : "\n## " + chapter.title + "\n\n" + chapter.about + "\n" + text;
}

std::string worst_spread(const Results& results) {
  std::vector<double> spreads;
  for (const Measurement& measurement : results.measurements)
    if (measurement.seconds.size() > 1) spreads.push_back(measurement.spread().relative());
  if (spreads.empty()) return {};
  const Spread all = spread_of(std::move(spreads));
  return fmt::format(
      "Half the range of repetitions was {:.1f} % of the median for the middle benchmark of this run and {:.0f} % "
      "for the worst.\n",
      100 * all.median, 100 * all.high);
}

/// Whether the benchmark times one decision of a lossless verifier at V = 128,256 and K = 4.
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

namespace {

/// Returns the page as Markdown; links to the plots begin with `folder`, their path relative to the page.
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
  for (const std::string& group : results.groups())  // a group without a chapter gets a new one
    if (!shown.contains(group))
      text += chapter_text(results, {group, "Group `" + group + "`.", {group}, false, {}}, shown);
  return text;
}

}  // namespace

void write_page(const Results& results, const std::string& file) {
  namespace fs = std::filesystem;
  const fs::path page(file), folder = page.parent_path() / page.stem();
  const auto figures = figures_of(results);
  write_whole(page, page_text(results, figures, folder.filename().string()));
  std::error_code failed;  // ignored: without the folder, write_whole() throws
  if (!figures.empty()) fs::create_directories(folder, failed);
  for (const Figure& figure : figures) write_whole(folder / figure.file, drawn(figure.plot).file());
}

}  // namespace draftproof::benchmarks
