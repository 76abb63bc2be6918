// Groups of benchmarks: one file each in bench/groups/, found by the build; a struct with a static `add()`
// that registers with Google Benchmark what the registry then holds.
#pragma once

#include <functional>
#include <vector>

namespace draftproof {

inline std::vector<std::function<void()>>& found_benchmarks() {
  static std::vector<std::function<void()>> all;
  return all;
}

template <class B>
void register_benchmark() {
  found_benchmarks().emplace_back(&B::add);
}

}  // namespace draftproof
