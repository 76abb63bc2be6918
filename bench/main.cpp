// Google Benchmark over everything that was found. After the usual report: how many times faster the prepared
// tables simulate than the naive form, wherever both ran, from the medians of this run.
#include <algorithm>
#include <cstdio>
#include <map>
#include <string_view>

#include <benchmark/benchmark.h>

#include <draftproof/bench/register_benchmark.hpp>
#include <draftproof/properties/registry.hpp>

namespace {

class RatioReporter : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    ConsoleReporter::ReportRuns(runs);
    for (const Run& run : runs)
      if (run.run_type == Run::RT_Iteration && !run.error_occurred)
        if (const auto rate = run.counters.find("items_per_second"); rate != run.counters.end())
          rates_[run.run_name.function_name].push_back(rate->second);
  }

  void Finalize() override {
    ConsoleReporter::Finalize();
    for (auto& [name, rates] : rates_) {
      const std::string prefix = "simulate/";
      if (!name.starts_with(prefix)) continue;
      const std::string rest = name.substr(prefix.size());
      if (const auto naive = rates_.find("naive/" + rest); naive != rates_.end())
        std::printf("ratio/%s: %.0f times the naive form (%.2f M tuples/s against %.4f M)\n", rest.c_str(),
                    median(rates) / median(naive->second), median(rates) / 1e6, median(naive->second) / 1e6);
    }
  }

 private:
  static double median(std::vector<double>& values) {
    const auto middle = values.begin() + std::ssize(values) / 2;
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
  }
  std::map<std::string, std::vector<double>> rates_;
};

}  // namespace

namespace draftproof::found {
void benchmarks();  // generated
}

int main(int argc, char** argv) {
  // A format other than the console's brings its own reporter.
  const bool console = std::none_of(argv, argv + argc, [](std::string_view argument) {
    return argument.starts_with("--benchmark_format=") && argument != "--benchmark_format=console";
  });
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  draftproof::registry();
  draftproof::found::benchmarks();
  for (const auto& add : draftproof::found_benchmarks()) add();
  RatioReporter reporter;
  benchmark::RunSpecifiedBenchmarks(console ? &reporter : nullptr);
  return 0;
}
