// Groups of benchmarks: one file each in bench/groups/, found by the build; a struct with a static `add()`
// that registers with Google Benchmark what the registry then holds.
#pragma once

#include <atomic>
#include <functional>
#include <vector>

namespace draftproof {

inline std::vector<std::function<void()>>& found_benchmarks() {
  static std::vector<std::function<void()>> all;
  return all;
}

/// The wish to end the run, null if nobody can have it: work of a minute looks at it now and then. What it has by then
/// is not kept.
inline const std::atomic<bool>*& stop_wish() {
  static const std::atomic<bool>* wish = nullptr;
  return wish;
}

template <class B>
void register_benchmark() {
  found_benchmarks().emplace_back([] { B::add(); });
}

}  // namespace draftproof
