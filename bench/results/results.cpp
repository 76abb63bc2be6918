#include <draftproof/bench/results/results.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>

#include <draftproof/captures/input_error.hpp>

namespace draftproof::benchmarks {

namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void refuse(const std::string& file, std::string found, std::string wanted) {
  throw InputError({.file = file, .found = std::move(found), .wanted = std::move(wanted)});
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

/// Whether a member of an entry belongs to the format and is no counter.
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

const Measurement* Results::find(std::string_view name) const {
  for (const Measurement& measurement : measurements)
    if (measurement.name == name) return &measurement;
  return nullptr;
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
    refuse(file, "no list \"benchmarks\"", "what `draftproof bench --json` writes");
  Results results;
  try {
    results.complete = data.value("complete", true);
    results.context = data.value("context", Json::object());
    std::map<std::string, std::size_t> place;
    std::vector<std::map<std::string, std::vector<double>>> counters;
    for (const Json& entry : data["benchmarks"]) {
      if (entry.value("run_type", "iteration") != "iteration") continue;  // aggregates are computed anew
      const std::string full = entry.value("run_name", entry.value("name", std::string()));
      if (full.empty()) refuse(file, "a benchmark without a name", "what `draftproof bench --json` writes");
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
    refuse(file, error.what(), "what `draftproof bench --json` writes");
  }
  return results;
}

Json read_json(const std::string& file) {
  std::ifstream in(file);
  if (!in) refuse(file, "a file that cannot be read", "what `draftproof bench --json` writes");
  Json data = Json::parse(in, nullptr, false);
  if (data.is_discarded()) refuse(file, "no JSON", "what `draftproof bench --json` writes");
  return data;
}

}  // namespace draftproof::benchmarks
