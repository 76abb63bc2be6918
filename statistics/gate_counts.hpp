// The counts of a gate: how often a trial ended on each path with each token. They are integers, so merging in any
// order gives the same numbers.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

namespace draftproof {

class GateCounts {
 public:
  /// A table of paths x vocabulary cells, all 0.
  GateCounts(std::size_t paths, std::size_t vocabulary) : vocabulary_{vocabulary}, cells_(paths * vocabulary) {}

  /// Adds `times` trials to the cell (path, token).
  void add(std::size_t path, std::size_t token, std::uint64_t times = 1) {
    cells_[path * vocabulary_ + token] += times;
  }

  /// Adds the counts of a table of the same shape.
  GateCounts& operator+=(const GateCounts& other) {
    assert(cells_.size() == other.cells_.size());
    for (std::size_t i = 0; i < cells_.size(); ++i) cells_[i] += other.cells_[i];
    return *this;
  }

  std::size_t vocabulary() const { return vocabulary_; }
  std::size_t paths() const { return cells_.size() / vocabulary_; }
  /// All counts, path by path.
  std::span<const std::uint64_t> cells() const { return cells_; }
  /// The counts of path k, one for each token.
  std::span<const std::uint64_t> path(std::size_t k) const {
    return std::span{cells_}.subspan(k * vocabulary_, vocabulary_);
  }
  /// Counts by token, summed over all paths.
  std::vector<std::uint64_t> tokens() const {
    std::vector<std::uint64_t> sums(vocabulary_);
    for (std::size_t i = 0; i < cells_.size(); ++i) sums[i % vocabulary_] += cells_[i];
    return sums;
  }
  /// Sets the counts of cells with `law[i] == 0` to 0 and returns their sum.
  std::uint64_t take_impossible(std::span<const double> law) {
    assert(law.size() == cells_.size());
    std::uint64_t taken = 0;
    for (std::size_t i = 0; i < cells_.size(); ++i)
      if (law[i] == 0) {
        taken += cells_[i];
        cells_[i] = 0;
      }
    return taken;
  }
  /// The counters that add up over parts of a run.
  static auto fields(auto& counts) { return std::tie(counts.cells_); }

 private:
  std::size_t vocabulary_;
  std::vector<std::uint64_t> cells_;
};

}  // namespace draftproof
