#include <draftproof/bench/run.hpp>

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>
#include <optional>
#include <regex>
#include <sstream>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <draftproof/bench/goal.hpp>
#include <draftproof/bench/machine.hpp>
#include <draftproof/bench/register_benchmark.hpp>
#include <draftproof/bench/results/results.hpp>
#include <draftproof/captures/input_error.hpp>
#include <draftproof/sim/random/philox4x32.hpp>

namespace draftproof::found {
void benchmarks();   // generated
void timed_forms();  // generated
}  // namespace draftproof::found

namespace draftproof::benchmarks {

namespace {

using Json = nlohmann::ordered_json;
using Run = benchmark::BenchmarkReporter::Run;

/// Stores the runs that Google Benchmark reports, without printing them.
class Collector : public benchmark::BenchmarkReporter {
 public:
  Collector() {
    SetOutputStream(&listed);
    SetErrorStream(&ignored_);
  }
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& reported) override {
    for (const Run& run : reported)
      if (run.run_type == Run::RT_Iteration) runs.push_back(run);
  }

  std::vector<Run> runs;
  std::stringstream listed;

 private:
  std::ostringstream ignored_;
};

/// Sets options of Google Benchmark, which reads options from a command line only.
void set_options(const std::vector<std::string>& options) {
  std::vector<std::string> words{"draftproof"};
  words.insert(words.end(), options.begin(), options.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  int count = static_cast<int>(pointers.size());
  pointers.push_back(nullptr);
  benchmark::Initialize(&count, pointers.data());
}

/// Returns why a run has no time, or nullopt if it has one. The fields that hold the reason have other names in older
/// versions of Google Benchmark.
template <class AnyRun>
std::optional<std::string> error_of(const AnyRun& run) {
  if constexpr (requires { run.error_occurred; })
    return run.error_occurred ? std::optional(run.error_message) : std::nullopt;
  else
    return static_cast<int>(run.skipped) != 0 ? std::optional(run.skip_message) : std::nullopt;
}

std::string exactly(const std::string& name) {
  std::string pattern = "^";
  for (const char character : name) {
    if (std::string_view("\\^$.|?*+()[]{}").find(character) != std::string_view::npos) pattern += '\\';
    pattern += character;
  }
  return pattern + "$";
}

Json entry_of(const Run& run, int repetitions, int repetition) {
  const std::string name = run.run_name.str();
  Json entry{{"name", name},
             {"run_name", name},
             {"run_type", "iteration"},
             {"repetitions", repetitions},
             {"repetition_index", repetition},
             {"threads", run.threads},
             {"iterations", run.iterations}};
  if (const auto error = error_of(run)) {
    entry["error_occurred"] = true;
    entry["error_message"] = *error;
    return entry;
  }
  entry["real_time"] = run.GetAdjustedRealTime();
  entry["cpu_time"] = run.GetAdjustedCPUTime();
  entry["time_unit"] = benchmark::GetTimeUnitString(run.time_unit);
  for (const auto& [key, counter] : run.counters) entry[key] = counter.value;
  return entry;
}

/// Returns the numbers below `size` in a random order that is the same on every machine.
std::vector<std::size_t> shuffled(std::size_t size, std::uint64_t seed, std::uint64_t round) {
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = size; i > 1; --i)  // a 64-bit number modulo i has a negligible bias
    std::swap(order[i - 1], order[philox_pair(seed, round, static_cast<std::uint32_t>(i), 0).first % i]);
  return order;
}

}  // namespace

const std::vector<std::string>& registered_benchmarks() {
  static const std::vector<std::string> names = [] {
    found::timed_forms();
    found::benchmarks();
    for (const auto& add : found_benchmarks()) add();
    set_options({"--benchmark_list_tests=true"});
    Collector collector;
    benchmark::RunSpecifiedBenchmarks(&collector, ".");
    set_options({"--benchmark_list_tests=false"});
    std::vector<std::string> lines;
    for (std::string line; std::getline(collector.listed, line);) lines.push_back(line);
    return lines;
  }();
  return names;
}

std::vector<std::string> choose_benchmarks(const std::vector<std::string>& names,
                                           const std::vector<std::string>& filters) {
  if (filters.empty()) return names;
  std::vector<char> chosen(names.size());
  for (const std::string& filter : filters) {
    std::regex pattern;
    try {
      pattern = std::regex(filter, std::regex::optimize);
    } catch (const std::regex_error& error) {
      throw InputError({.file = "FILTER", .got = in_quotes(filter), .expected = "a regular expression"});
    }
    bool any = false;
    for (std::size_t i = 0; i < names.size(); ++i)
      if (std::regex_search(plain_name(names[i]), pattern)) any = (chosen[i] = true);
    if (!any)
      throw InputError(
          {.file = "FILTER", .got = in_quotes(filter), .expected = "a match in `draftproof bench --list`"});
  }
  std::vector<std::string> found;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (chosen[i]) found.push_back(names[i]);
  return found;
}

std::vector<std::string> usual_sizes(const std::vector<std::string>& names, const std::vector<Goal>& goals) {
  const auto of_goal = [&goals](const std::string& name) {
    return std::any_of(goals.begin(), goals.end(), [&name](const Goal& goal) {
      return plain_name(goal.slower) == name || plain_name(goal.faster) == name;
    });
  };
  std::map<std::string, std::vector<std::size_t>> siblings;  // indices into `names`, by the name without its numbers
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::string kind;
    std::istringstream parts(plain_name(names[i]));
    for (std::string part; std::getline(parts, part, '/');)
      if (part.find_first_not_of("0123456789") != std::string::npos) kind += part + '/';
    siblings[kind].push_back(i);
  }
  std::vector<char> chosen(names.size());
  for (const auto& [kind, which] : siblings) chosen[which[which.size() / 2]] = true;
  std::vector<std::string> usual;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (chosen[i] || of_goal(plain_name(names[i]))) usual.push_back(names[i]);
  return usual;
}

Json run_benchmarks(const std::vector<std::string>& names, const RunOptions& options) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::seconds kept_every{20};
  set_options({fmt::format("--benchmark_min_time={}" DRAFTPROOF_MIN_TIME_UNIT, options.min_time),
               "--benchmark_repetitions=1"});
  const auto begin = Clock::now();
  bool late = false;
  const auto stopped = [&] { return options.stop && options.stop->load(std::memory_order_relaxed); };
  stop_flag() = options.stop;
  Json context = machine_context();
  context["seed"] = options.seed;
  context["repetitions"] = options.repetitions;
  context["min_time"] = options.min_time;
  context["longest"] = options.longest;
  context["minutes"] = options.minutes;
  context["interleaved"] = options.interleave;
  Json goals = Json::array();
  for (const Goal& goal : found_goals()) goals.push_back(goal_data(goal));
  std::vector<std::vector<Json>> entries(names.size());
  const auto results = [&](bool complete) {
    Json benchmarks = Json::array();
    for (const auto& of_one : entries)
      for (const Json& entry : of_one) benchmarks.push_back(entry);
    return Json{{"schema", "draftproof.bench/1"},
                {"complete", complete},
                {"context", context},
                {"goals", goals},
                {"benchmarks", std::move(benchmarks)}};
  };
  std::vector<char> skipped(names.size());
  std::vector<double> spent(names.size());
  std::uint64_t done = 0;
  auto kept = begin;
  const auto take = [&](std::size_t i, int repetition) {
    if (options.progress) options.progress(done);
    ++done;
    if (skipped[i] || spent[i] > options.longest || stopped() || late) return;
    const auto start = Clock::now();
    late = options.minutes > 0 && start - begin > std::chrono::duration<double, std::ratio<60>>(options.minutes);
    if (late) return;
    Collector collector;
    benchmark::RunSpecifiedBenchmarks(&collector, exactly(names[i]));
    const auto end = Clock::now();
    spent[i] += std::chrono::duration<double>(end - start).count();
    if (stopped()) return;  // the signal may have cut the run short, because it also reaches child processes
    for (const Run& run : collector.runs) {
      skipped[i] = skipped[i] || error_of(run).has_value();
      entries[i].push_back(entry_of(run, options.repetitions, repetition));
    }
    if (!options.keep || end - kept < kept_every) return;
    options.keep(results(false));
    kept = Clock::now();
  };
  if (options.interleave) {
    for (int round = 0; round < options.repetitions; ++round)
      for (const std::size_t i : shuffled(names.size(), options.seed, static_cast<std::uint64_t>(round)))
        take(i, round);
  } else {
    for (std::size_t i = 0; i < names.size(); ++i)
      for (int repetition = 0; repetition < options.repetitions; ++repetition) take(i, repetition);
  }
  if (late) context["ended"] = fmt::format("ended after {:g} minutes", options.minutes);
  return results(!stopped() && !late);
}

}  // namespace draftproof::benchmarks
