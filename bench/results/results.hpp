// What a run of benchmarks measured, as read from its JSON file: repetitions by name, counters, goals, the machine.
// Tables, comparisons and the page of figures all start here and never from a run in progress.
//
//   name     as `draftproof bench --list` prints it: Google Benchmark's without what it appends about iterations and
//            clocks
//   seconds  time per item, where a benchmark counts items, else per iteration; on the clock the benchmark chose:
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
  std::string skipped{};                     ///< why a repetition gave no time; the others, if any, are in `seconds`

  bool timed() const { return !seconds.empty(); }
  Spread spread() const { return spread_of(seconds); }  ///< of one that is timed
  /// "cost" of "cost/k_seq/iid/4096/4".
  std::string group() const { return name.substr(0, name.find('/')); }
};

struct Results {
  nlohmann::ordered_json context{};
  std::vector<Measurement> measurements{};  ///< in the file's order of names
  std::vector<Goal> goals{};
  bool complete = true;  ///< false: stopped before every repetition was taken

  /// Null if nothing of that name is there; of a benchmark that was skipped, a measurement that is not timed.
  const Measurement* find(std::string_view name) const;
};

/// "peer/clp/12/3" of "peer/clp/12/3/iterations:1/manual_time".
std::string plain_name(std::string_view full);

/// Throws InputError for a file that is no JSON.
nlohmann::ordered_json read_json(const std::string& file);

/// `file` is for messages. Throws InputError for anything that is not the result of a run.
Results results_of(const nlohmann::ordered_json& data, const std::string& file);
inline Results read_results(const std::string& file) { return results_of(read_json(file), file); }

nlohmann::ordered_json goal_data(const Goal& goal);

}  // namespace draftproof::benchmarks
