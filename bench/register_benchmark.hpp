// Each group of benchmarks is one file in bench/groups/, found by the build. The file defines a struct whose static
// `add()` registers benchmarks with Google Benchmark.
#pragma once

#include <atomic>
#include <functional>
#include <vector>

namespace draftproof {

inline std::vector<std::function<void()>>& found_benchmarks() {
  static std::vector<std::function<void()>> all;
  return all;
}

/// The stop flag of the run; null if the run has none. Benchmarks that run for minutes check the flag; the results of a
/// stopped benchmark are discarded.
inline const std::atomic<bool>*& stop_flag() {
  static const std::atomic<bool>* flag = nullptr;
  return flag;
}

template <class B>
void register_benchmark() {
  found_benchmarks().emplace_back([] { B::add(); });
}

}  // namespace draftproof
