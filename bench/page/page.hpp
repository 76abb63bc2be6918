// The page of figures: a run rendered as Markdown with plots beside it. Every number comes from the results; the text
// comes from the code.
//
//   tables   the words of a benchmark's name are its row, the numbers in the name (V, K, ..) its column
//   plots    a line is a name with "{}" in place of V or K, and has one point for every benchmark that matches
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <draftproof/bench/results/results.hpp>
#include <draftproof/cli/report/plots/plots.hpp>

namespace draftproof::benchmarks {

/// The parts of a name: "cost/k_seq/iid/4096/4" is {"cost/k_seq/iid", {4096, 4}}.
struct SplitName {
  std::string words;
  std::vector<int> numbers;
};
SplitName split_name(const std::string& name);

/// Splits measurements into parts for separate tables. Two rows (the words of a name) are in one part if both have a
/// measurement in the same column (the numbers of a name). Each part keeps the order of the measurements.
std::vector<std::vector<const Measurement*>> parts_of(const std::vector<const Measurement*>& measurements);

using CellText = std::function<std::string(const Measurement&)>;

/// Returns a table with one row for the words and one column for the numbers of the names. Rows keep the order of the
/// measurements, columns ascend; a skipped measurement is a dash.
Table matrix_of(const std::vector<const Measurement*>& measurements, const CellText& text);

struct Figure {
  std::string file;  ///< "cost.svg"
  std::string caption;
  plots::LinePlot plot;
};

/// Returns a point for each benchmark whose name is `name` with a number in place of "{}": x is the number, y the time
/// per item in seconds, or items per second if `rate` is true.
plots::Series series_of(const Results& results, const std::string& label, const std::string& name, bool rate,
                        bool dashed = false);

/// Registers the figures of benchmarks, their goals as verdicts, and the comparison of two runs for pages of results
/// (cli/report/page).
bool add_to_pages();

/// Whether a run for the page includes this benchmark. The run includes both benchmarks of every goal's ratio, all
/// benchmarks of groups that do not have one benchmark for each scheme, and a selection of the other groups.
bool on_page(const std::string& plain_name, const std::vector<Goal>& goals);

/// Writes `file`, and its plots into the folder of the same name without extension.
/// Throws: InputError if a file cannot be written.
void write_page(const Results& results, const std::string& file);

}  // namespace draftproof::benchmarks
