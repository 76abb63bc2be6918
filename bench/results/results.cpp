#include <draftproof/bench/results/results.hpp>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>

#include <fmt/format.h>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/cli/report/text.hpp>

namespace draftproof::benchmarks {

namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void refuse(const std::string& file, std::string found, std::string wanted) {
  throw InputError({.file = file, .got = std::move(found), .expected = std::move(wanted)});
}

double unit_of(const Json& entry, const std::string& file) {
  const std::string unit = entry.value("time_unit", "ns");
  if (unit == "ns") return 1e-9;
  if (unit == "us") return 1e-6;
  if (unit == "ms") return 1e-3;
  if (unit == "s") return 1;
  refuse(file, "time_unit " + in_quotes(unit), "ns, us, ms or s");
}

bool real_clock(const std::string& full) { return full.ends_with("/real_time") || full.ends_with("/manual_time"); }

/// Whether Google Benchmark itself writes this member of an entry; all other numbers are counters.
bool of_the_format(const std::string& key) {
  static const std::set<std::string> known{"family_index",    "per_family_instance_index",
                                           "repetitions",     "repetition_index",
                                           "threads",         "iterations",
                                           "real_time",       "cpu_time",
                                           "items_per_second"};
  return known.contains(key);
}

double positive_number(const Json& entry, const char* key, const std::string& name, const std::string& file) {
  const auto at = entry.find(key);
  if (at == entry.end() || !at->is_number()) refuse(file, name + " without " + key, "a number");
  const double value = *at;
  if (!std::isfinite(value) || value <= 0)
    refuse(file, name + " with " + key + " " + at->dump(), "a positive number");
  return value;
}

Goal goal_of(const Json& data, const std::string& file) {
  const std::string sense = data.at("sense");
  if (sense != "at_least" && sense != "at_most") refuse(file, "sense " + in_quotes(sense), "at_least or at_most");
  return {data.at("what"), data.at("slower"), data.at("faster"),
          sense == "at_least" ? Goal::Sense::at_least : Goal::Sense::at_most, data.at("bound")};
}

}  // namespace

std::string three_digits(double value) {
  const double size = std::fabs(value);
  if (size < 0.0995) return fmt::format("{:.2g}", value);
  return fmt::format("{:.{}f}", value, size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

std::string time_text(double seconds) {
  // Values that would round to 1000 get the next unit.
  for (const auto& [least, unit] : {std::pair{1e-9, " ns"}, {1e-6, " us"}, {1e-3, " ms"}})
    if (seconds < 999.5 * least) return three_digits(seconds / least) + unit;
  return three_digits(seconds) + " s";
}

std::string rate_text(double per_second) {
  for (const auto& [least, unit] : {std::pair{1e9, " G/s"}, {1e6, " M/s"}, {1e3, " k/s"}})
    if (per_second >= 0.9995 * least) return three_digits(per_second / least) + unit;
  return three_digits(per_second) + " /s";
}

std::string spread_text(double relative) {
  return fmt::format("{:.{}f} %", 100 * relative, relative < 0.0995 ? 1 : 0);
}

std::string count_text(double value) {
  return value == std::floor(value) && std::fabs(value) < 1e15 ? fmt::format("{:.0f}", value)
                                                               : fmt::format("{:.5g}", value);
}

Spread spread_of(std::vector<double> values) {
  assert(!values.empty());
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  const double median = values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {values.front(), median, values.back()};
}

const Measurement* Results::find(std::string_view name) const {
  for (const Measurement& measurement : measurements)
    if (measurement.name == name) return &measurement;
  return nullptr;
}

std::vector<const Measurement*> Results::members(std::string_view group) const {
  std::vector<const Measurement*> members;
  for (const Measurement& measurement : measurements)
    if (measurement.group() == group) members.push_back(&measurement);
  return members;
}

std::vector<std::string> Results::groups() const {
  std::vector<std::string> groups;
  for (const Measurement& measurement : measurements)
    if (std::find(groups.begin(), groups.end(), measurement.group()) == groups.end())
      groups.push_back(measurement.group());
  return groups;
}

std::string plain_name(std::string_view full) {
  std::string plain;
  while (!full.empty()) {
    const std::size_t end = std::min(full.find('/'), full.size());
    const std::string_view part = full.substr(0, end);
    full.remove_prefix(std::min(end + 1, full.size()));
    bool appended = part == "real_time" || part == "process_time" || part == "manual_time";
    for (const char* key : {"iterations:", "repeats:", "min_time:", "min_warmup_time:"})
      appended = appended || part.starts_with(key);
    if (!appended) plain += (plain.empty() ? "" : "/") + std::string(part);
  }
  return plain;
}

Json goal_data(const Goal& goal) {
  return {{"what", goal.what},
          {"slower", goal.slower},
          {"faster", goal.faster},
          {"sense", goal.sense == Goal::Sense::at_least ? "at_least" : "at_most"},
          {"bound", goal.bound}};
}

Results results_of(const Json& data, const std::string& file) {
  if (!data.is_object() || !data.contains("benchmarks") || !data["benchmarks"].is_array())
    refuse(file, "no list \"benchmarks\"", "a result of `draftproof bench --json`");
  Results results;
  try {
    results.complete = data.value("complete", true);
    results.context = data.value("context", Json::object());
    // Reports read these members, so that a member of another type is an error here.
    (void)machine_line(results.context);
    (void)results.context.value("repetitions", 0);
    (void)results.context.value("min_time", 0.0);
    (void)results.context.value("warning", "");
    std::map<std::string, std::size_t> place;
    std::vector<std::map<std::string, std::vector<double>>> counters;
    for (const Json& entry : data["benchmarks"]) {
      if (entry.value("run_type", "iteration") != "iteration") continue;  // aggregates are computed anew here
      const std::string full = entry.value("run_name", entry.value("name", std::string()));
      if (full.empty()) refuse(file, "a benchmark without a name", "a result of `draftproof bench --json`");
      const auto [at, is_new] = place.try_emplace(plain_name(full), results.measurements.size());
      if (is_new) {
        results.measurements.push_back({.name = at->first});
        counters.emplace_back();
      }
      Measurement& measurement = results.measurements[at->second];
      if (entry.value("error_occurred", false)) {
        measurement.skipped = entry.value("error_message", std::string("no reason given"));
        continue;
      }
      measurement.items = entry.contains("items_per_second");
      measurement.seconds.push_back(
          measurement.items ? 1 / positive_number(entry, "items_per_second", full, file)
                            : positive_number(entry, real_clock(full) ? "real_time" : "cpu_time", full, file) *
                                  unit_of(entry, file));
      for (const auto& [key, value] : entry.items())
        if (value.is_number() && !of_the_format(key)) counters[at->second][key].push_back(value);
    }
    for (std::size_t i = 0; i < counters.size(); ++i)
      for (auto& [key, values] : counters[i]) results.measurements[i].counters[key] = spread_of(values).median;
    if (data.contains("goals"))
      for (const Json& goal : data["goals"]) results.goals.push_back(goal_of(goal, file));
  } catch (const Json::exception& error) {
    refuse(file, std::string(without_identifier(error.what())), "a result of `draftproof bench --json`");
  }
  return results;
}

Json read_json(const std::string& file) {
  std::ifstream in(file);
  std::error_code failed;
  if (!in || std::filesystem::is_directory(file, failed))
    refuse(file, "a file that cannot be read", "a result of `draftproof bench --json`");
  Json data = Json::parse(in, nullptr, false);
  if (data.is_discarded()) refuse(file, "no JSON", "a result of `draftproof bench --json`");
  return data;
}

std::vector<Judged> judge(std::span<const Goal> goals, const Results& results) {
  std::vector<Judged> judged;
  for (const Goal& goal : goals) {
    Judged& found = judged.emplace_back(Judged{.goal = goal});
    const Measurement* slower = results.find(plain_name(goal.slower));
    const Measurement* faster = results.find(plain_name(goal.faster));
    if (!slower || !faster || !slower->timed() || !faster->timed()) continue;
    found.ratio = slower->spread().median / faster->spread().median;
    const auto meets = [&goal](double ratio) {
      return goal.sense == Goal::Sense::at_least ? ratio >= goal.bound : ratio <= goal.bound;
    };
    found.verdict = meets(found.ratio) ? GoalResult::met : GoalResult::missed;
    if (slower->seconds.size() != faster->seconds.size()) continue;
    std::vector<double> rounds;
    for (std::size_t i = 0; i < slower->seconds.size(); ++i)
      rounds.push_back(slower->seconds[i] / faster->seconds[i]);
    found.all_rounds = rounds.size();
    found.met_rounds = static_cast<std::size_t>(std::count_if(rounds.begin(), rounds.end(), meets));
    found.rounds = spread_of(std::move(rounds));
    found.verdict = found.met_rounds == found.all_rounds ? GoalResult::met
                    : found.met_rounds == 0              ? GoalResult::missed
                                                         : GoalResult::undecided;
  }
  return judged;
}

std::string Judged::text() const {
  return verdict == GoalResult::met         ? "met"
         : verdict == GoalResult::missed    ? "not met"
         : verdict == GoalResult::undecided ? fmt::format("met in {} of {} rounds", met_rounds, all_rounds)
                                            : "not run";
}

namespace {

struct Word {
  const char* data;  ///< the word in JSON
  const char* text;  ///< the word in a table
  Tone tone;
};

constexpr Word change_words[] = {{"faster", "faster", Tone::good},  // in the order of Change
                                 {"slower", "slower", Tone::bad},
                                 {"within_noise", "within noise", Tone::plain},
                                 {"too_few_repetitions", "too few repetitions", Tone::faint},
                                 {"missing", "missing in the new run", Tone::faint},
                                 {"new", "not in the old run", Tone::faint},
                                 {"skipped", "skipped", Tone::faint}};

bool measured(Change change) { return change <= Change::too_few; }

Change change_of(const Measurement& before, const Measurement& after, double ratio, double threshold) {
  const Spread a = before.spread(), b = after.spread();
  if (ratio <= 1 + threshold && ratio * (1 + threshold) >= 1) return Change::within_noise;
  if (b.low <= a.high && a.low <= b.high) return Change::within_noise;
  if (chance_of_separation(before.seconds.size(), after.seconds.size()) > largest_chance) return Change::too_few;
  return ratio > 1 ? Change::slower : Change::faster;
}

}  // namespace

double chance_of_separation(std::size_t n, std::size_t m) {
  double chance = 2;  // a factor of 2, because either run may be the slower one
  for (std::size_t i = 1; i <= m; ++i) chance *= static_cast<double>(i) / static_cast<double>(n + i);
  return std::min(chance, 1.0);
}

std::vector<Compared> compare(const Results& old_run, const Results& new_run, double threshold) {
  std::vector<Compared> compared;
  for (const Measurement& before : old_run.measurements) {
    const Measurement* after = new_run.find(before.name);
    Compared& row = compared.emplace_back(Compared{before.name, Change::only_old});
    if (!after) continue;
    row.change = Change::skipped;
    if (!before.timed() || !after->timed()) continue;
    row.old_spread = before.spread();
    row.new_spread = after->spread();
    row.ratio = row.new_spread.median / row.old_spread.median;
    row.change = change_of(before, *after, row.ratio, threshold);
  }
  for (const Measurement& after : new_run.measurements)
    if (!old_run.find(after.name)) compared.push_back({after.name, Change::only_new});
  return compared;
}

Document report_comparison(const std::vector<Compared>& compared, const std::string& old_file,
                           const std::string& new_file, double threshold) {
  Document document;
  document.data = {{"schema", "draftproof.bench.compare/1"},
                   {"old", old_file},
                   {"new", new_file},
                   {"threshold", threshold},
                   {"largest_chance", largest_chance},
                   {"benchmarks", nlohmann::ordered_json::array()}};
  Section section{.title = new_file + " against " + old_file};
  std::size_t faster = 0, slower = 0;
  for (const Compared& one : compared) {
    const Word& word = change_words[static_cast<std::size_t>(one.change)];
    const bool known = measured(one.change);
    ResultRow row;
    row.text("name", "benchmark", {one.name}).data("verdict", word.data);
    if (known) row.data("ratio", one.ratio);
    for (const auto& [key, spread] : {std::pair{"old", one.old_spread}, std::pair{"new", one.new_spread}}) {
      if (known) row.data(key, {{"median", spread.median}, {"low", spread.low}, {"high", spread.high}});
      row.number(key, {known ? time_text(spread.median) : ""});
      row.number("spread", {known ? spread_text(spread.relative()) : "", Tone::faint});
    }
    row.number("ratio", {known ? three_digits(one.ratio) : ""}).cell("verdict", {word.text, word.tone});
    section.table.add(document.data["benchmarks"], std::move(row));
    faster += one.change == Change::faster;
    slower += one.change == Change::slower;
  }
  section.after = {fmt::format("  {}: {} faster, {} slower", counted(compared.size(), "benchmark"), faster, slower),
                   fmt::format("  faster or slower: all repetitions of one run beyond all of the other, which chance "
                               "does at most {:.0f} times in 100, and medians more than {:.3g} % apart",
                               100 * largest_chance, 100 * threshold)};
  document.data["faster"] = faster;
  document.data["slower"] = slower;
  document.sections.push_back(std::move(section));
  return document;
}

namespace {

std::string word(const nlohmann::ordered_json& context, const char* key) {
  const auto at = context.find(key);
  if (at == context.end()) return {};
  return at->is_string() ? at->get<std::string>() : at->dump();
}

std::string counters_text(const Measurement& measurement) {
  return listed(measurement.counters,
                [](const auto& counter) { return counter.first + " " + count_text(counter.second); });
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
  Table table;
  for (const Measurement* one : measurements) {
    const bool timed = one->timed();
    const Spread spread = timed ? one->spread() : Spread{};
    ResultRow row;
    row.cell("benchmark", {one->name.substr(one->name.starts_with(prefix) ? prefix.size() : 0)});
    row.number("time", timed ? Cell{time_text(spread.median)} : Cell{"skipped", Tone::faint});
    row.number("spread", {timed ? spread_text(spread.relative()) : "", Tone::faint});
    row.number("items", {timed && one->items ? rate_text(1 / spread.median) : ""});
    row.cell("counters", timed ? Cell{counters_text(*one)} : Cell{one->skipped, Tone::faint});
    table.add(std::move(row));
  }
  return table;
}

Table table_of(const std::vector<Judged>& goals) {
  Table table;
  for (const Judged& judged : goals) {
    const bool run = judged.verdict != GoalResult::not_run;
    const char* sense = judged.goal.sense == Goal::Sense::at_least ? "at least " : "at most ";
    const auto& rounds = judged.rounds;
    ResultRow row;
    row.cell("goal", {judged.goal.what}).number("ratio", {run ? three_digits(judged.ratio) : "-"});
    row.number("rounds",
               {rounds ? three_digits(rounds->low) + " to " + three_digits(rounds->high) : "-", Tone::faint});
    row.number("bound", {sense + fmt::format("{:g}", judged.goal.bound)});
    row.cell("", {judged.text(), judged.verdict == GoalResult::met      ? Tone::good
                                 : judged.verdict == GoalResult::missed ? Tone::bad
                                                                        : Tone::faint});
    table.add(std::move(row));
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
  for (const std::string& group : results.groups())
    sections.push_back({.title = group, .table = table_of(results.members(group), group + "/")});
  // A filtered run lists only the goals that it ran.
  std::vector<Judged> judged = judge(results.goals, results);
  const std::string summary = summary_of(judged);
  std::erase_if(judged, [](const Judged& goal) { return goal.verdict == GoalResult::not_run; });
  if (judged.empty()) return sections;
  sections.push_back({.title = "Goals", .table = table_of(judged), .after = {"  " + summary}});
  return sections;
}

}  // namespace draftproof::benchmarks
