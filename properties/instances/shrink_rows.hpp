// Shrinking steps for rows of weights, used by all kinds of instances.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

namespace draftproof {

/// Collects candidates that are valid and differ from `origin`. `Instance` has valid(), == and rows_of(instance), a
/// list of pointers to its rows.
template <class Instance>
class Candidates {
 public:
  explicit Candidates(const Instance& origin) : origin_{origin} {}

  /// Adds a copy of `origin` that `edit` has changed.
  template <class Edit>
  void add(Edit edit) {
    Instance candidate = origin_;
    edit(candidate);
    if (candidate.valid() && candidate != origin_) found_.push_back(std::move(candidate));
  }
  /// Adds `origin` with `edit` applied to every row.
  template <class Edit>
  void add_to_all_rows(Edit edit) {
    add([&](Instance& candidate) {
      for (std::vector<int>* row : rows_of(candidate)) edit(*row);
    });
  }
  /// Adds one candidate for each row, with `edit` applied to that row.
  template <class Edit>
  void add_to_each_row(Edit edit) {
    Instance copy = origin_;
    for (std::size_t r = 0; r < rows_of(copy).size(); ++r)
      add([&](Instance& candidate) { edit(*rows_of(candidate)[r]); });
  }
  /// Adds candidates with one row made uniform on its support, with all weights or one row halved, and with a single
  /// weight lowered to 0, to 1, and by a half, a quarter, .. of its value. Lowering by such fractions finds the least
  /// weight that fails in a number of steps logarithmic in the weight.
  void add_smaller_weights(std::size_t vocabulary) {
    add_to_each_row([](std::vector<int>& row) {
      for (int& weight : row) weight = weight > 0;
    });
    const auto halve = [](std::vector<int>& row) {
      for (int& weight : row) weight = (weight + 1) / 2;
    };
    add_to_all_rows(halve);
    add_to_each_row(halve);
    const auto halvings = static_cast<int>(std::bit_width(static_cast<unsigned>(largest_weight())));
    for (std::size_t x = 0; x < vocabulary; ++x) {
      for (const int least : {0, 1})
        add_to_each_row([=](std::vector<int>& row) { row[x] = std::min(row[x], least); });
      for (int k = 0; k < halvings; ++k)
        add_to_each_row([=](std::vector<int>& row) { row[x] -= (row[x] - row[x] / 2) >> k; });
    }
  }
  /// Returns the candidates in the order of their addition; empties the collection.
  std::vector<Instance> take() { return std::move(found_); }

 private:
  int largest_weight() const {
    Instance copy = origin_;
    int largest = 0;
    for (const std::vector<int>* row : rows_of(copy))
      for (const int weight : *row) largest = std::max(largest, weight);
    return largest;
  }

  const Instance& origin_;
  std::vector<Instance> found_;
};

/// Removes token x from the row.
inline void drop_token(std::vector<int>& row, std::size_t x) {
  row.erase(row.begin() + static_cast<std::ptrdiff_t>(x));
}

/// Adds the weight of token x + 1 to token x and removes token x + 1.
inline void merge_tokens(std::vector<int>& row, std::size_t x) {
  row[x] += row[x + 1];
  drop_token(row, x + 1);
}

}  // namespace draftproof
