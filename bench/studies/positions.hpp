// The positions of a study: opens the sources of its options and distributes their positions over threads. Each
// result is stored by position, so sums over results do not depend on the threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <draftproof/bench/studies/records.hpp>
#include <draftproof/captures/source.hpp>
#include <draftproof/cli/report/text.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/sim/trials/for_each_index.hpp>

namespace draftproof {

/// Opens the sources of the options, or `by_default` if there are none.
inline std::vector<Source> open_sources(const StudyOptions& options, const std::vector<std::string>& by_default) {
  registry();  // the first call registers all families of sources
  std::vector<Source> sources;
  for (const std::string& spec : options.sources.empty() ? by_default : options.sources)
    sources.push_back(Source::open(spec, {.seed = options.seed}));
  return sources;
}

/// Returns the number of positions that a study reads from a source: at most `most`, or all if `most` is 0.
inline std::size_t positions_taken(const Source& source, std::uint64_t most) {
  return most == 0 ? source.positions() : std::min<std::size_t>(source.positions(), most);
}

/// Calls work(i) for every i < count, as for_each_index() does, on the threads of the options.
template <class Work>
std::vector<char> for_each_position(const StudyOptions& options, std::size_t count, Work&& work) {
  return for_each_index(
      count, options.threads, [&] { return options.stopped(); }, std::forward<Work>(work));
}

/// Counts the finished positions of all threads and reports the progress.
class Meter {
 public:
  Meter(const StudyOptions& options, std::uint64_t total) : options_{options}, total_{total} {}

  void add(std::uint64_t units) {
#pragma omp critical(study_meter)
    {
      done_ += units;
      options_.tell(done_, total_);
    }
  }

 private:
  const StudyOptions& options_;
  std::uint64_t total_, done_ = 0;
};

/// Returns measure(i) for every i < count that finished before a stop, in the order of i. Each call adds one to
/// `meter`.
template <class Measure>
auto finished_positions(const StudyOptions& options, std::size_t count, Meter& meter, Measure&& measure) {
  std::vector<std::invoke_result_t<Measure&, std::size_t>> at(count), finished;
  const auto done = for_each_position(options, count, [&](std::size_t i) {
    at[i] = measure(i);
    meter.add(1);
  });
  for (std::size_t i = 0; i < count; ++i)
    if (done[i]) finished.push_back(std::move(at[i]));
  return finished;
}

/// Calls measure(source, i) at the first `most` positions of every source, then report(source, results of the
/// positions that finished before a stop).
template <class Measure, class Report>
void study_positions(const StudyOptions& options, const std::vector<std::string>& by_default, std::uint64_t most,
                     StudyResult& result, Measure&& measure, Report&& report) {
  const std::vector<Source> sources = open_sources(options, by_default);
  std::uint64_t total = 0;
  for (const Source& source : sources) total += positions_taken(source, most);
  Meter meter(options, total);
  for (const Source& from : sources) {
    const std::size_t count = positions_taken(from, most);
    const auto at = finished_positions(options, count, meter, [&](std::size_t i) { return measure(from, i); });
    result.complete = result.complete && at.size() == count;
    if (!at.empty()) report(from, at);
  }
}

/// Returns the mean of value(one) over the results `at` of positions. Requires: `at` is not empty.
template <class At, class Value>
double mean_over(const std::vector<At>& at, Value&& value) {
  double sum = 0;
  for (const At& one : at) sum += static_cast<double>(value(one));
  return sum / static_cast<double>(at.size());
}

/// Returns "  V = 32,000, 8 positions" followed by `rest`.
inline std::string size_line(const Source& from, std::size_t positions, std::string_view rest = "") {
  return fmt::format("  V = {}, {}{}", grouped(from.vocabulary()), counted(positions, "position"), rest);
}

/// Returns the entry of a source in the data.
inline nlohmann::ordered_json entry_of(const Source& from, std::size_t positions) {
  return {{"source", from.name()}, {"about", from.describe()}, {"positions", positions}};
}

}  // namespace draftproof
