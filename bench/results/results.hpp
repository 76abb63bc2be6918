// The measurements of a run of benchmarks, as read from its JSON file: repetitions by name, counters, goals, and the
// machine. Tables, comparisons and the page of figures use these only, never a run in progress.
//
//   name     as `draftproof bench --list` prints it: Google Benchmark's without its suffixes on iterations and clocks
//   seconds  time per item if a benchmark counts items, else per iteration; by the clock of the benchmark, which is
//            processor time unless its name says otherwise
//
// The file is Google Benchmark's JSON, so its own tools read it too; "goals" and some of "context" are ours.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <draftproof/bench/goal.hpp>
#include <draftproof/bench/results/median.hpp>

namespace draftproof::benchmarks {

struct Measurement {
  std::string name;
  std::vector<double> seconds{};             ///< one per repetition, in the order of the run
  bool items = false;                        ///< per item
  std::map<std::string, double> counters{};  ///< medians over repetitions
  std::string skipped{};                     ///< why a repetition has no time; the others, if any, are in `seconds`

  bool timed() const { return !seconds.empty(); }
  Spread spread() const { return spread_of(seconds); }  ///< of one that is timed
  /// The part of the name before the first slash: "cost" of "cost/k_seq/iid/4096/4".
  std::string group() const { return name.substr(0, name.find('/')); }
};

struct Results {
  nlohmann::ordered_json context{};
  std::vector<Measurement> measurements{};  ///< in the order of their first appearance in the file
  std::vector<Goal> goals{};
  bool complete = true;  ///< false: stopped before the last repetition

  /// Returns the measurement of that name, which may be skipped and not timed; null if there is none.
  const Measurement* find(std::string_view name) const;
};

/// Returns a name without suffixes: "peer/clp/12/3" of "peer/clp/12/3/iterations:1/manual_time".
std::string plain_name(std::string_view full);

/// Returns the JSON of a file. Throws: InputError if the file cannot be read or is no JSON.
nlohmann::ordered_json read_json(const std::string& file);

/// Returns the results in `data`; `file` is for messages. Throws: InputError if it is not the result of a run.
Results results_of(const nlohmann::ordered_json& data, const std::string& file);
inline Results read_results(const std::string& file) { return results_of(read_json(file), file); }

nlohmann::ordered_json goal_data(const Goal& goal);

}  // namespace draftproof::benchmarks
