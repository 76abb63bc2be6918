// The measurements of a run of benchmarks, as read from its JSON file: repetitions by name, counters, goals, and the
// machine. They can be judged by goals, compared with another run, and shown as tables. The file is Google Benchmark's
// JSON with "goals" and more of "context", so Google Benchmark's tools read it too.
//
//   name     as `draftproof bench --list` prints it: Google Benchmark's name without suffixes on iterations and clocks
//   group    the part of a name before its first slash
//   seconds  time per item if a benchmark counts items, else per iteration; by the clock of the benchmark, which is
//            processor time unless its name says otherwise
//
// Goals. Both benchmarks of a goal run in the same minutes, in random order (run.hpp), so a busy machine affects both.
// A goal is met if every round meets it, not met if none does, and else undecided whatever the median is, because other
// load can move single rounds over a bound. Without paired rounds the medians decide.
//
// Comparison of two runs with n and m repetitions: faster, slower, or within noise. "Faster" and "slower" require
// three things: the ranges of both runs' repetitions do not overlap; the chance of this for draws of one distribution,
// 2 n! m! / (n + m)!, is at most 1 %, which takes five repetitions each (4 and 4: 2 / 70, 5 and 5: 2 / 252); and the
// ratio is beyond `threshold`, because code and data lie at different addresses in two runs of one program, an effect
// that repetitions inside a run do not show. With five repetitions each, about one of a hundred unchanged benchmarks
// is still called faster or slower by chance; run both again then.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <draftproof/bench/goal.hpp>
#include <draftproof/cli/report/document.hpp>

namespace draftproof::benchmarks {

// Texts: three digits, and the unit that leaves 1 to 999 before the point.

std::string three_digits(double value);    ///< "412", "17.3", "1.05", "0.32", "0.047"; from 1000 on without decimals
std::string time_text(double seconds);     ///< "17.3 us"
std::string rate_text(double per_second);  ///< "4.51 M/s"
std::string spread_text(double relative);  ///< "3 %", either way of the median
std::string count_text(double value);      ///< a counter: whole numbers as such, others to five digits

/// The median of a few repetitions and their range. A median is used because a shared machine delays single
/// repetitions by large factors.
struct Spread {
  double low = 0, median = 0, high = 0;

  /// Returns half the range over the median: 0.03 means about 3 % either way of the median.
  double relative() const { return median > 0 ? (high - low) / (2 * median) : 0; }
};

/// Returns the spread of at least one value; the median of an even number of values is the mean of the middle two.
Spread spread_of(std::vector<double> values);

struct Measurement {
  std::string name;
  std::vector<double> seconds{};             ///< one per repetition, in the order of the run
  bool items = false;                        ///< whether `seconds` is per item
  std::map<std::string, double> counters{};  ///< medians over repetitions
  std::string skipped{};                     ///< why a repetition has no time; other repetitions are in `seconds`

  bool timed() const { return !seconds.empty(); }
  Spread spread() const { return spread_of(seconds); }  ///< requires timed()
  /// Returns the part of the name before the first slash: "cost" of "cost/k_seq/iid/4096/4".
  std::string group() const { return name.substr(0, name.find('/')); }
};

struct Results {
  nlohmann::ordered_json context{};
  std::vector<Measurement> measurements{};  ///< in the order of their first appearance in the file
  std::vector<Goal> goals{};
  bool complete = true;  ///< false: stopped before the last repetition

  /// Returns the measurement with this name, which may be skipped and have no time; null if the name is unknown.
  const Measurement* find(std::string_view name) const;
  /// Returns the measurements of a group, and the groups in the order of their first measurements.
  std::vector<const Measurement*> members(std::string_view group) const;
  std::vector<std::string> groups() const;
};

/// Returns a name without suffixes: "peer/clp/12/3" of "peer/clp/12/3/iterations:1/manual_time".
std::string plain_name(std::string_view full);

/// Returns the JSON of a file. Throws: InputError if the file cannot be read or is not JSON.
nlohmann::ordered_json read_json(const std::string& file);

/// Returns the results in `data`; `file` is for messages. Throws: InputError if it is not the result of a run.
Results results_of(const nlohmann::ordered_json& data, const std::string& file);
inline Results read_results(const std::string& file) { return results_of(read_json(file), file); }

nlohmann::ordered_json goal_data(const Goal& goal);

enum class GoalResult { met, missed, undecided, not_run };

struct Judged {
  Goal goal;
  GoalResult verdict = GoalResult::not_run;    ///< not_run: one of the two benchmarks has no time
  double ratio = 0;                            ///< median time per item of `slower` over that of `faster`
  std::optional<Spread> rounds{};              ///< range of the ratio over paired repetitions, if counts are equal
  std::size_t met_rounds = 0, all_rounds = 0;  ///< rounds that meet the bound, and all rounds

  /// Returns the verdict in words: "met", "not met", "met in 3 of 5 rounds", "not run".
  std::string text() const;
};

/// Returns one verdict per goal, in the order of the goals.
std::vector<Judged> judge(std::span<const Goal> goals, const Results& results);

enum class Change { faster, slower, within_noise, too_few, only_old, only_new, skipped };

struct Compared {
  std::string name;
  Change change;
  /// Median of the new run over the median of the old one, for the first four kinds of change; above 1 is slower.
  double ratio = 0;
  Spread old_spread{}, new_spread{};
};

inline constexpr double largest_chance = 0.01;

/// Returns the probability that all n repetitions of one run lie on one side of all m of the other run by chance.
double chance_of_separation(std::size_t n, std::size_t m);

/// Returns one entry per benchmark, in the order of the old run, then the new ones. With a `threshold` of 0.05, ratios
/// from 1 / 1.05 to 1.05 are noise.
std::vector<Compared> compare(const Results& old_run, const Results& new_run, double threshold);

Document report_comparison(const std::vector<Compared>& compared, const std::string& old_file,
                           const std::string& new_file, double threshold);

/// Returns one line: processor, cores, caches, vector path, compiler, date.
std::string machine_line(const nlohmann::ordered_json& context);

/// Returns a table of these measurements: the name without `prefix`, time, rate and counters.
Table table_of(const std::vector<const Measurement*>& measurements, const std::string& prefix);

/// Returns the verdicts on goals; a table without columns if there are no goals.
Table table_of(const std::vector<Judged>& goals);

/// Returns a line such as "Goals: 3 met, 1 not met, 5 not run".
std::string summary_of(const std::vector<Judged>& goals);

/// Returns a table of times for every group, then the goals.
std::vector<Section> sections_of(const Results& results);

}  // namespace draftproof::benchmarks
