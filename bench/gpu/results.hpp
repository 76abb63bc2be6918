// The results of a run on a device, as a table with ratios and as JSON. This header uses the standard library only,
// because machines with a device may have no other library.
//
//   goals     ratios of two results of the run, with a bound; a goal whose results are missing is not judged
#pragma once

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace draftproof::gpu_bench {

struct Result {
  std::string name;
  double microseconds = 0;
  double bytes = 0;   ///< bytes of the rows, counted once; 0 if not meaningful
  double trials = 0;  ///< trials of a simulation; else 0

  /// Returns gigabytes per second.
  double bandwidth() const { return bytes / microseconds * 1e-3; }
  /// Returns trials per nanosecond, which is 10^9 per second.
  double rate() const { return trials / microseconds * 1e-3; }
};

/// A bound on a ratio of two times, two bandwidths or two rates of trials, or on one rate if `second` is empty.
struct DeviceGoal {
  std::string what, first, second;
  bool bandwidth;  ///< whether the ratio is the bandwidth of `first` over `second`; else it is a ratio of times
  bool at_least;
  double bound;
  bool rate = false;
};

inline std::vector<DeviceGoal> device_goals() {
  const std::string large = "/128256";
  const auto rejection = [](const std::string& vocabulary, const std::string& positions, const std::string& drafts) {
    return "recursive_rejection/automatic/" + vocabulary + "/" + positions + "/" + drafts;
  };
  std::vector<DeviceGoal> goals;
  for (const std::string vocabulary : {"32000", "128256", "262144"})
    for (const std::string positions : {"64", "256"}) {
      const std::string where = ", V = " + vocabulary + ", B = " + positions;
      const std::string same_bytes = "copy/" + vocabulary + "/" + positions;
      goals.push_back({"bandwidth of rows against a copy of their bytes, one draft refused" + where,
                       rejection(vocabulary, positions, "1"), same_bytes, true, true, .7});
      goals.push_back(
          {"the same, four refused" + where, rejection(vocabulary, positions, "4"), same_bytes, true, true, .7});
      goals.push_back({"the common shape against ours, one draft refused" + where,
                       "common_shape/" + vocabulary + "/" + positions, rejection(vocabulary, positions, "1"), false,
                       true, 4});
    }
  for (const std::string format : {"float32", "bfloat16", "float16"})
    goals.push_back({"verdicts from logits against their softmax alone, " + format + ", B = 256",
                     "logits_" + format + "/automatic" + large + "/256/4", "softmax_" + format + large + "/256",
                     false, false, 1.3});
  const std::vector<DeviceGoal> others = {
      {"one position against a cluster that only meets", rejection("128256", "1", "1"), "lower_bound/cluster_meeting",
       false, false, 3},
      {"one position: the common shape against ours", "common_shape" + large + "/1", rejection("128256", "1", "1"),
       false, true, 4},
      {"simulation: 10^9 trials a second, tokens counted", "simulate/flat", "", false, true, 1, true},
      {"simulation: one token in nine of ten trials, against none so hot", "simulate/peaked", "simulate/flat", false,
       true, .5, true},
      {"block verification of 8 drafts against 8 positions that refuse one draft",
       "block_of_8/automatic" + large + "/32", "eight_refusals/automatic" + large + "/32", false, false, 1.5},
      {"the optimum of many positions against one sort of their ratios", "iid_optimum" + large + "/16",
       "sort_of_ratios" + large + "/16", false, false, 2},
      {"the optimum of one position against one sort of its ratios", "iid_optimum" + large + "/1",
       "sort_of_ratios" + large + "/1", false, false, 2},
      {"four rounds refused against one", rejection("128256", "256", "4"), rejection("128256", "256", "1"), false,
       false, 1.25},
  };
  goals.insert(goals.end(), others.begin(), others.end());
  return goals;
}

class Results {
 public:
  /// `driver` and `runtime`: version numbers of CUDA, such as 13000.
  Results(std::string device, int major, int minor, int driver, int runtime)
      : device_{std::move(device)},
        capability_{std::to_string(major) + "." + std::to_string(minor)},
        driver_{driver},
        runtime_{runtime} {}

  void add(Result result) {
    std::fprintf(stderr, "%-52s %10.2f us\n", result.name.c_str(), result.microseconds);
    results_.push_back(std::move(result));
  }

  void print() const {
    const double copy = bandwidth_of("lower_bound/copy");
    std::printf("%s, compute capability %s, CUDA %d of the driver and %d of the program, %s\n\n", device_.c_str(),
                capability_.c_str(), driver_, runtime_, date().c_str());
    std::printf("%-52s %12s %10s %14s\n", "benchmark", "us", "GB/s", "of the copy's");
    for (const Result& result : results_) {
      std::printf("%-52s %12.2f", result.name.c_str(), result.microseconds);
      if (result.bytes > 0) std::printf(" %10.0f %13.2f", result.bandwidth(), result.bandwidth() / copy);
      if (result.trials > 0) std::printf(" %10.2f trials/ns", result.rate());
      std::printf("\n");
    }
    std::printf("\n%-100s %8s  %s\n", "goal", "ratio", "bound");
    for_judged([](const DeviceGoal& goal, double ratio, bool met) {
      std::printf("%-100s %8.2f  at %s %g: %s\n", goal.what.c_str(), ratio, goal.at_least ? "least" : "most",
                  goal.bound, met ? "met" : "not met");
    });
  }

  void write(const std::string& path) const {
    std::ofstream file(path);
    file << "{\n  \"schema\": \"draftproof.gpu_bench/1\",\n  \"device\": \"" << device_ << "\",\n  \"capability\": \""
         << capability_ << "\",\n  \"driver\": " << driver_ << ",\n  \"runtime\": " << runtime_ << ",\n  \"date\": \""
         << date() << "\",\n  \"results\": [\n";
    for (std::size_t i = 0; i < results_.size(); ++i)
      file << "    {\"name\": \"" << results_[i].name << "\", \"microseconds\": " << results_[i].microseconds
           << ", \"bytes\": " << results_[i].bytes << ", \"trials\": " << results_[i].trials << "}"
           << (i + 1 < results_.size() ? "," : "") << "\n";
    file << "  ],\n  \"goals\": [";
    const char* before = "\n";
    for_judged([&](const DeviceGoal& goal, double ratio, bool met) {
      file << before << "    {\"goal\": \"" << goal.what << "\", \"ratio\": " << ratio << ", \""
           << (goal.at_least ? "at_least" : "at_most") << "\": " << goal.bound
           << ", \"met\": " << (met ? "true" : "false") << "}";
      before = ",\n";
    });
    file << "\n  ]\n}\n";
    if (!file.flush()) throw std::runtime_error(path + ": cannot be written");
  }

 private:
  /// Calls use(goal, ratio, met) for every goal whose results were measured.
  template <class Use>
  void for_judged(const Use& use) const {
    for (const DeviceGoal& goal : device_goals()) {
      const Result *first = find(goal.first), *second = find(goal.second);
      const bool alone = goal.second.empty();
      if (first == nullptr || (second == nullptr && !alone)) continue;
      const double ratio = alone ? first->rate() : ratio_of(goal, *first, *second);
      use(goal, ratio, goal.at_least ? ratio >= goal.bound : ratio <= goal.bound);
    }
  }
  static double ratio_of(const DeviceGoal& goal, const Result& first, const Result& second) {
    if (goal.rate) return first.rate() / second.rate();
    return goal.bandwidth ? first.bandwidth() / second.bandwidth() : first.microseconds / second.microseconds;
  }
  static std::string date() {
    const std::time_t now = std::time(nullptr);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
    return text;
  }
  const Result* find(const std::string& name) const {
    const auto found =
        std::find_if(results_.begin(), results_.end(), [&](const Result& one) { return one.name == name; });
    return found == results_.end() ? nullptr : &*found;
  }
  double bandwidth_of(const std::string& name) const {
    const Result* result = find(name);
    return result == nullptr ? 0 : result->bandwidth();
  }

  std::string device_, capability_;
  int driver_, runtime_;
  std::vector<Result> results_;
};

}  // namespace draftproof::gpu_bench
