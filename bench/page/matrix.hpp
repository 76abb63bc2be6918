// Benchmarks that differ in numbers only, as one row of a table: the numbers in a name (V, K, ...) are the column.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <draftproof/bench/results/results.hpp>
#include <draftproof/report/document.hpp>

namespace draftproof::benchmarks {

/// "cost/k_seq/iid/4096/4" is {"cost/k_seq/iid", {4096, 4}}.
struct SplitName {
  std::string words;
  std::vector<int> numbers;
};
SplitName split_name(const std::string& name);

/// Parted so that benchmarks share a part if any numbers of their rows do: a table of small vocabularies is not one
/// of large ones. Each in the order of the measurements.
std::vector<std::vector<const Measurement*>> parts_of(const std::vector<const Measurement*>& measurements);

using CellText = std::function<std::string(const Measurement&)>;

/// Rows in the order of the measurements, columns ascending; what was skipped is a dash.
Table matrix_of(const std::vector<const Measurement*>& measurements, const CellText& text);

}  // namespace draftproof::benchmarks
