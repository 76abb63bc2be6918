#include <draftproof/bench/page/figures.hpp>

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include <draftproof/report/text.hpp>

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

void add(Plot& plot, Series series) {
  if (series.points.size() > 1) plot.series.push_back(std::move(series));
}

/// 1e-5 -> "10 us", 1e6 -> "1 M".
std::string time_tick(double seconds) {
  for (const auto& [unit, name] : {std::pair{1.0, "s"}, {1e-3, "ms"}, {1e-6, "us"}})
    if (seconds >= unit * 0.999) return fmt::format("{:.3g} {}", seconds / unit, name);
  return fmt::format("{:.3g} ns", seconds * 1e9);
}
std::string rate_tick(double rate) {
  for (const auto& [unit, name] : {std::pair{1e9, " G"}, {1e6, " M"}, {1e3, " k"}})
    if (rate >= unit * 0.999) return fmt::format("{:.3g}{}", rate / unit, name);
  return fmt::format("{:.3g}", rate);
}
std::string whole_tick(double value) { return grouped(static_cast<std::uint64_t>(value + 0.5)); }

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

Series series_of(const Results& results, const std::string& label, const std::string& name, bool rate, bool dashed) {
  Series series{label, {}, dashed};
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
    const double seconds = measurement.spread().median;
    series.points.emplace_back(value, rate ? 1 / seconds : seconds);
  }
  std::sort(series.points.begin(), series.points.end());
  return series;
}

std::vector<Figure> figures_of(const Results& results) {
  Plot cost{"One decision from fresh rows",
            "V, tokens of the vocabulary",
            "processor time a decision",
            {},
            whole_tick,
            time_tick};
  for (const auto& [label, name, dashed] : costs) add(cost, series_of(results, label, name, false, dashed));
  // A floor without other lines would not be useful.
  if (!cost.empty())
    for (const std::string& floor : floors_of(results))
      add(cost, series_of(results, "floor: " + floor, "floor/" + floor + "/{}", false, true));
  Plot rate{"Simulation at V = 128,256, one core", "K, drafts a trial", "trials a second", {}, whole_tick, rate_tick};
  for (const auto& [label, name, dashed] : rates) add(rate, series_of(results, label, name, true, dashed));
  std::vector<Figure> figures;
  if (!cost.empty())
    figures.push_back({"cost.svg", "What a decision costs against the vocabulary, rows in cache unless cold.", cost});
  if (!rate.empty())
    figures.push_back({"throughput.svg", "Trials a second against the number of drafts, drafting included.", rate});
  return figures;
}

}  // namespace draftproof::benchmarks
