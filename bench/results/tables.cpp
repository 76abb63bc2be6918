#include <draftproof/bench/results/tables.hpp>

#include <algorithm>

#include <draftproof/bench/results/units.hpp>

namespace draftproof::benchmarks {

namespace {

std::string word(const nlohmann::ordered_json& context, const char* key) {
  const auto at = context.find(key);
  if (at == context.end()) return {};
  return at->is_string() ? at->get<std::string>() : at->dump();
}

std::string counters_text(const Measurement& measurement) {
  std::string text;
  for (const auto& [name, value] : measurement.counters)
    text += (text.empty() ? "" : ", ") + name + " " + count_text(value);
  return text;
}

Cell cell_of(const Judged& judged) {
  const Tone tone = judged.verdict == GoalResult::met      ? Tone::good
                    : judged.verdict == GoalResult::missed ? Tone::bad
                                                           : Tone::faint;
  return {verdict_text(judged), tone};
}

auto number_of(const std::vector<Judged>& goals, GoalResult verdict) {
  return std::count_if(goals.begin(), goals.end(), [&](const Judged& goal) { return goal.verdict == verdict; });
}

}  // namespace

std::string machine_line(const nlohmann::ordered_json& context) {
  std::string line = word(context, "processor");
  const auto add = [&line](const std::string& text) {
    if (!text.empty()) line += (line.empty() ? "" : "; ") + text;
  };
  if (const std::string cores = word(context, "num_cpus"); !cores.empty()) add("cores: " + cores);
  std::string caches;
  for (const auto& cache : context.value("caches", nlohmann::ordered_json::array()))
    if (cache.value("type", "") != "Instruction")
      caches += fmt::format("{}L{} {} KiB", caches.empty() ? "" : ", ", cache.value("level", 0),
                            cache.value("size", 0) / 1024);
  add(caches);
  add(word(context, "vector_path"));
  add(word(context, "compiler"));
  add(word(context, "date"));
  return line;
}

Table table_of(const std::vector<const Measurement*>& measurements, const std::string& prefix) {
  Table table{.columns = {{"benchmark"}, {"time", true}, {"spread", true}, {"items", true}, {"counters"}},
              .rows = {}};
  for (const Measurement* measurement : measurements) {
    std::string name = measurement->name;
    if (name.starts_with(prefix)) name.erase(0, prefix.size());
    if (!measurement->timed()) {
      table.rows.push_back({{name}, {"skipped", Tone::faint}, {""}, {""}, {measurement->skipped, Tone::faint}});
      continue;
    }
    const Spread spread = measurement->spread();
    table.rows.push_back({{name},
                          {time_text(spread.median)},
                          {spread_text(spread.relative()), Tone::faint},
                          {measurement->items ? rate_text(1 / spread.median) : ""},
                          {counters_text(*measurement)}});
  }
  return table;
}

Table table_of(const std::vector<Judged>& goals) {
  if (goals.empty()) return {};
  Table table{.columns = {{"goal"}, {"ratio", true}, {"rounds", true}, {"bound", true}, {""}}, .rows = {}};
  for (const Judged& judged : goals) {
    const bool run = judged.verdict != GoalResult::not_run;
    const char* sense = judged.goal.sense == Goal::Sense::at_least ? "at least " : "at most ";
    table.rows.push_back(
        {{judged.goal.what},
         {run ? three_digits(judged.ratio) : "-"},
         {judged.rounds ? three_digits(judged.rounds->low) + " to " + three_digits(judged.rounds->high) : "-",
          Tone::faint},
         {sense + fmt::format("{:g}", judged.goal.bound)},
         cell_of(judged)});
  }
  return table;
}

std::string summary_of(const std::vector<Judged>& goals) {
  const auto met = number_of(goals, GoalResult::met), missed = number_of(goals, GoalResult::missed);
  std::string text = fmt::format("Goals: {} met, {} not met", met, missed);
  if (const auto open = number_of(goals, GoalResult::undecided))
    text += fmt::format(", {} in some rounds only", open);
  if (const auto idle = number_of(goals, GoalResult::not_run)) text += fmt::format(", {} not run", idle);
  return text;
}

std::vector<Section> sections_of(const Results& results) {
  std::vector<Section> sections{{.title = "Benchmarks", .before = {"  " + machine_line(results.context)}}};
  if (const std::string warning = word(results.context, "warning"); !warning.empty())
    sections.front().before.push_back("  " + warning);
  if (!results.complete)
    sections.front().before.push_back(
        "  " + (results.context.contains("ended") ? word(results.context, "ended") : std::string("stopped early")) +
        ": repetitions are missing");
  sections.front().before.push_back("  time: median per item over repetitions; spread: half their range");
  std::vector<std::string> groups;  // in the order of their first benchmark
  for (const Measurement& measurement : results.measurements)
    if (std::find(groups.begin(), groups.end(), measurement.group()) == groups.end())
      groups.push_back(measurement.group());
  for (const std::string& group : groups) {
    std::vector<const Measurement*> members;
    for (const Measurement& measurement : results.measurements)
      if (measurement.group() == group) members.push_back(&measurement);
    sections.push_back({.title = group, .table = table_of(members, group + "/")});
  }
  // A filtered run does not list the goals that it did not run.
  std::vector<Judged> judged = judge(results.goals, results);
  const std::string summary = summary_of(judged);
  std::erase_if(judged, [](const Judged& goal) { return goal.verdict == GoalResult::not_run; });
  if (judged.empty()) return sections;
  sections.push_back({.title = "Goals", .table = table_of(judged), .after = {"  " + summary}});
  return sections;
}

}  // namespace draftproof::benchmarks
