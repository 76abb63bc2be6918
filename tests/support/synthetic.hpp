// Synthetic benchmark runs for tests, in the stored format.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <draftproof/bench/results/results.hpp>

namespace draftproof::benchmarks {

/// Seconds per item by repetition; empty if the benchmark was skipped.
struct SyntheticBenchmark {
  std::string name;
  std::vector<double> seconds;
};

inline nlohmann::ordered_json synthetic_run(const std::vector<SyntheticBenchmark>& list,
                                            const std::vector<Goal>& goals = {}) {
  nlohmann::ordered_json data{{"schema", "draftproof.bench/1"},
                              {"context",
                               {{"date", "2026-01-02T03:04:05Z"},
                                {"processor", "Imagined Processor"},
                                {"num_cpus", 2},
                                {"caches", {{{"type", "Data"}, {"level", 1}, {"size", 49152}}}},
                                {"compiler", "compiler 1.0"},
                                {"vector_path", "AVX2"},
                                {"repetitions", 5},
                                {"min_time", 0.1}}},
                              {"goals", nlohmann::ordered_json::array()},
                              {"benchmarks", nlohmann::ordered_json::array()}};
  for (const Goal& goal : goals) data["goals"].push_back(goal_data(goal));
  for (const auto& [name, seconds] : list) {
    if (seconds.empty())
      data["benchmarks"].push_back({{"name", name}, {"error_occurred", true}, {"error_message", "no reason to run"}});
    for (std::size_t i = 0; i < seconds.size(); ++i)
      data["benchmarks"].push_back({{"name", name},
                                    {"run_name", name},
                                    {"run_type", "iteration"},
                                    {"repetition_index", i},
                                    {"iterations", 10},
                                    {"real_time", 3e9 * seconds[i]},
                                    {"cpu_time", 2e9 * seconds[i]},
                                    {"time_unit", "ns"},
                                    {"acceptance", 0.75},
                                    {"items_per_second", 1 / seconds[i]}});
  }
  return data;
}

}  // namespace draftproof::benchmarks
