// The rows of one position from probabilities in a coarse format, checked and normalised. For bf16 or fp16 rows,
// where the error of their sums would show (docs/rows.md).
//
//   p, q     of(...)    float(x_i / s), s the sum of the stored row (stored_row.hpp)     [V] each
//
// Cost: two reads of each stored row, the second from cache, and 4 V bytes of memory a row, reused by every call.
// Correctness: drafts drawn in proportion to the stored q have the normalised q as their law; p and q sum to 1 as
// closely as any rows of float.
#pragma once

#include <cassert>
#include <span>
#include <string>
#include <vector>

#include <draftproof/sim/distributions/stored_row.hpp>
#include <draftproof/sim/distributions/streamed_rows.hpp>

namespace draftproof {

class NormalisedRows {
 public:
  explicit NormalisedRows(int vocabulary, int proposals = 1)
      : rows_(static_cast<std::size_t>(1 + proposals), std::vector<float>(static_cast<std::size_t>(vocabulary))) {}

  /// Views on this object's memory, valid until the next call. All rows have V entries.
  /// Throws: std::invalid_argument on a row that is no law of its format.
  template <class Entry>
  FreshRows<float> of(std::span<const Entry> target, std::span<const Entry> proposal) {
    return of(target, std::vector{proposal});
  }
  template <class Entry>
  FreshRows<float> of(std::span<const Entry> target, const std::vector<std::span<const Entry>>& proposals) {
    assert(proposals.size() + 1 == rows_.size());
    fill(rows_.front(), target, "target row");
    std::vector<std::span<const float>> views;
    for (std::size_t k = 0; k < proposals.size(); ++k) {
      fill(rows_[k + 1], proposals[k], "row of proposal " + std::to_string(k));
      views.emplace_back(rows_[k + 1]);
    }
    return {std::span<const float>(rows_.front()), std::move(views)};
  }

 private:
  template <class Entry>
  static void fill(std::vector<float>& row, std::span<const Entry> stored, const std::string& name) {
    assert(stored.size() == row.size());
    normalise_stored(stored, checked_sum(stored, name), row.data());
  }

  std::vector<std::vector<float>> rows_;
};

}  // namespace draftproof
