// Copies of one pair in memory, for passes that must not find it in a cache. next() returns the copy that was used
// longest ago.
//
//   hot     one copy, which stays in a cache that holds 8 V bytes
//   cold    as many copies as fill 640 MB, which is twice the largest last-level cache of the machines measured so far
//
// One buffer serves all vocabularies and is refilled when another vocabulary is requested. Copies start at cache lines,
// as tensors do: loads that cross two lines run at half the speed, which would slow the plain read and favour every
// pass that is compared with it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include <draftproof/bench/pair.hpp>

namespace draftproof::benchmarks {

class PairCopies {
 public:
  static PairCopies& of(int vocabulary, bool cold) {
    static PairCopies copies;
    copies.fill(vocabulary, cold);
    return copies;
  }

  std::size_t size() const { return size_; }
  /// Returns a pointer to p of the next copy; its q starts size() entries later.
  const float* next() {
    at_ = at_ + 1 == count_ ? 0 : at_ + 1;
    return first_ + 2 * size_ * at_;
  }

 private:
  static constexpr std::size_t cold_bytes = 640'000'000, line = 64 / sizeof(float);

  void fill(int vocabulary, bool cold) {
    const auto size = static_cast<std::size_t>(vocabulary), bytes = 2 * size * sizeof(float);
    const std::size_t count = cold ? cold_bytes / bytes : 1;
    if (size == size_ && count == count_) return;
    size_ = size;
    count_ = count;
    at_ = 0;
    values_.clear();
    if (!cold) values_.shrink_to_fit();
    values_.reserve(2 * size * count + line);
    const std::size_t past = reinterpret_cast<std::uintptr_t>(values_.data()) / sizeof(float) % line;
    values_.resize((line - past) % line);
    first_ = values_.data() + values_.size();
    const RowPair& rows = pair_of(vocabulary).rows;
    for (std::size_t copy = 0; copy < count; ++copy)
      for (const auto* row : {&rows.target, &rows.proposals.front()})
        std::transform(row->begin(), row->end(), std::back_inserter(values_),
                       [](double value) { return static_cast<float>(value); });
  }

  std::vector<float> values_;
  const float* first_ = nullptr;
  std::size_t size_ = 0, count_ = 0, at_ = 0;
};

}  // namespace draftproof::benchmarks
