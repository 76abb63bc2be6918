// Tables of benchmarks that differ in numbers only: the words of a name are the row, its numbers (V, K, ..) the
// column.
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

/// Splits measurements into parts for separate tables: rows are in one part if they share a column. Each part keeps
/// the order of the measurements.
std::vector<std::vector<const Measurement*>> parts_of(const std::vector<const Measurement*>& measurements);

using CellText = std::function<std::string(const Measurement&)>;

/// Returns a table with rows in the order of the measurements and columns ascending; a skipped one is a dash.
Table matrix_of(const std::vector<const Measurement*>& measurements, const CellText& text);

}  // namespace draftproof::benchmarks
