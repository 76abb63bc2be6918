// Copies of one pair of float32 rows, together larger than the last-level cache. A benchmark visits them in turn, so
// that every row is read from memory, as in an engine, and not from a cache.
//
//   M        working set in bytes: twice the largest cache, at least 600 MB
//   stride   successive copies are M / 2.6 apart, which defeats the prefetcher
//
// Cost: M bytes for the whole run, written again when the vocabulary changes; not allocated if memory is short.
#pragma once

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include <draftproof/bench/pair.hpp>

namespace draftproof::benchmarks {

/// Returns MemAvailable of /proc/meminfo in bytes, or 0 if the file has no such entry.
inline std::size_t available_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string word; file >> word;)
    if (std::size_t kibibytes = 0; word == "MemAvailable:" && file >> kibibytes) return kibibytes * 1024;
  return 0;
}

class ColdRows {
 public:
  struct View {
    std::span<const float> target, proposal;
  };

  /// Returns the rows shared by all benchmarks, filled with copies of the pair with this vocabulary size; null if
  /// memory is short.
  static ColdRows* holding(int vocabulary) {
    static ColdRows rows;
    return rows.fill(vocabulary) ? &rows : nullptr;
  }

  /// Returns M in bytes.
  static std::size_t working_set() {
    std::size_t largest = 0;
    for (const auto& cache : benchmark::CPUInfo::Get().caches)
      largest = std::max(largest, static_cast<std::size_t>(std::max(cache.size, 0)));
    return std::max(2 * largest, std::size_t{600'000'000});
  }

  /// Returns the next copy of the pair.
  View next() {
    at_ = (at_ + stride_) % copies_;
    const std::span<const float> all(values_);
    return {all.subspan(2 * at_ * size_, size_), all.subspan((2 * at_ + 1) * size_, size_)};
  }

 private:
  bool fill(int vocabulary) {
    if (size_ == static_cast<std::size_t>(vocabulary)) return true;
    const std::size_t numbers = working_set() / sizeof(float);
    // Requires 1.5 M to be available, so that 0.5 M remain for the rest of the process.
    if (values_.empty() && available_memory() < numbers * sizeof(float) / 2 * 3) return false;
    values_.resize(numbers);
    size_ = static_cast<std::size_t>(vocabulary);
    copies_ = numbers / (2 * size_);
    stride_ = copies_ * 5 / 13;
    while (std::gcd(stride_, copies_) != 1) ++stride_;
    at_ = 0;
    const RowPair& pair = pair_of(vocabulary).rows;
    auto out = values_.begin();
    for (std::size_t copy = 0; copy < copies_; ++copy)
      for (const auto* row : {&pair.target, &pair.proposals.front()})
        out = std::transform(row->begin(), row->end(), out, [](double value) { return static_cast<float>(value); });
    return true;
  }

  std::vector<float> values_;
  std::size_t size_ = 0, copies_ = 0, stride_ = 1, at_ = 0;
};

}  // namespace draftproof::benchmarks
