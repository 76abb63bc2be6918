#include <draftproof/bench/page/figures.hpp>

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include <draftproof/bench/results/comparison.hpp>
#include <draftproof/bench/results/judge.hpp>
#include <draftproof/bench/results/units.hpp>
#include <draftproof/report/page/comparison.hpp>
#include <draftproof/report/page/verdicts.hpp>
#include <draftproof/report/register_figure.hpp>

namespace draftproof::benchmarks {

namespace {

struct Line {
  const char *label, *name;
  bool dashed = false;
};

// The lines of the plots; the tables have all other measurements.
constexpr Line costs[] = {
    {"single_draft", "cost/single_draft/iid/{}/1"},
    {"recursive_rejection, K = 4", "cost/recursive_rejection/iid/{}/4"},
    {"recursive_rejection_wor, K = 4", "cost/recursive_rejection_wor/without_replacement/{}/4"},
    {"k_seq, K = 4", "cost/k_seq/iid/{}/4"},
    {"ladder, K = 4", "cost/ladder/iid/{}/4"},
    {"single_draft, cold", "cold/single_draft/iid/{}/1"},
    {"recursive_rejection, cold", "cold/recursive_rejection/iid/{}/4"},
    {"floor: p and q read", "read/float32/{}", true},
    {"floor: p and q read, cold", "read/float32/{}/cold", true},
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

// Of a picture beside a page of Markdown.
constexpr double width = 640, plane = 340;

void add(plots::LinePlot& plot, plots::Series series) {
  if (series.points.size() > 1) plot.series.push_back(std::move(series));
}

/// Names WHAT of the floors "floor/WHAT/V".
std::vector<std::string> floors_of(const Results& results) {
  std::vector<std::string> floors;
  for (const Measurement& measurement : results.measurements) {
    const auto slash = measurement.name.rfind('/');
    if (measurement.group() != "floor" || slash < 6 || slash == std::string::npos) continue;
    const std::string what = measurement.name.substr(6, slash - 6);
    if (std::find(floors.begin(), floors.end(), what) == floors.end()) floors.push_back(what);
  }
  return floors;
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

std::vector<Figure> figures_of(const Results& results) {
  plots::LinePlot cost{.title = "One decision from fresh rows",
                       .x_label = "V, tokens of the vocabulary",
                       .y_label = "processor time a decision",
                       .x_tick = plots::whole_tick,
                       .y_tick = plots::time_tick,
                       .x_ticks = plots::LinePlot::Ticks::at_points_logarithmic,
                       .logarithmic = true,
                       .width = width,
                       .plane = plane};
  for (const auto& [label, name, dashed] : costs) add(cost, series_of(results, label, name, false, dashed));
  // A floor without other lines would not be useful.
  if (!cost.empty())
    for (const std::string& floor : floors_of(results))
      add(cost, series_of(results, "floor: " + floor, "floor/" + floor + "/{}", false, true));
  plots::LinePlot rate{.title = "Simulation at V = 128,256, one core",
                       .x_label = "K, drafts a trial",
                       .y_label = "trials a second",
                       .x_tick = plots::whole_tick,
                       .y_tick = plots::rate_tick,
                       .x_ticks = plots::LinePlot::Ticks::at_points_logarithmic,
                       .logarithmic = true,
                       .width = width,
                       .plane = plane};
  for (const auto& [label, name, dashed] : rates) add(rate, series_of(results, label, name, true, dashed));
  std::vector<Figure> figures;
  if (!cost.empty())
    figures.push_back({"cost.svg", "What a decision costs against the vocabulary, rows in cache unless cold.", cost});
  if (!rate.empty())
    figures.push_back({"throughput.svg", "Trials a second against the number of drafts, drafting included.", rate});
  return figures;
}

bool add_to_pages() {
  page::found_figures().push_back([](const page::Json& data, std::vector<page::Figure>& figures) {
    if (!page::begins(page::text_of(data, "schema"), "draftproof.bench/")) return;
    for (Figure& figure : figures_of(results_of(data, "benchmarks"))) {
      figure.plot.width = 400;  // two or three beside each other, as the other figures of a page
      figure.plot.plane = 240;
      figures.push_back({std::move(figure.caption), drawn(figure.plot)});
    }
  });
  page::found_cost_comparisons().push_back([](const page::Json& before, const page::Json& after) {
    std::vector<page::CostChange> changes;
    for (const page::Json* data : {&before, &after})
      if (!page::begins(page::text_of(*data, "schema"), "draftproof.bench/")) return changes;
    constexpr double threshold = 0.05;  // as `bench compare`
    for (const Compared& one : compare(results_of(before, "old"), results_of(after, "new"), threshold))
      if (one.change == Change::faster || one.change == Change::slower)
        changes.push_back({one.name, time_text(one.old_spread.median), time_text(one.new_spread.median),
                           one.change == Change::slower});
    return changes;
  });
  // A goal that is missed is no error of a scheme: times belong to the machine. So it is open, not bad.
  page::found_verdict_readers().push_back([](const page::Json& data, std::vector<page::Verdict>& verdicts) {
    if (!page::begins(page::text_of(data, "schema"), "draftproof.bench/")) return;
    const Results results = results_of(data, "benchmarks");
    for (const Judged& one : judge(results.goals, results)) {
      const bool met = one.verdict == GoalResult::met, run = one.verdict != GoalResult::not_run;
      verdicts.push_back(
          {.kind = "goal",
           .subject = one.goal.what,
           .where = "",
           .text = verdict_text(one),
           .grade = met ? page::Grade::good : page::Grade::open,
           .detail =
               !run ? ""
                    : fmt::format("ratio {:.3g}, wanted {} {:g}", one.ratio,
                                  one.goal.sense == Goal::Sense::at_least ? "at least" : "at most", one.goal.bound)});
    }
  });
  return true;
}

}  // namespace draftproof::benchmarks
