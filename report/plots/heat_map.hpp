// A matrix of signs: names of rows at the left, names of columns on their side above, a legend below.
#pragma once

#include <string>
#include <vector>

#include <draftproof/report/plots/line_plot.hpp>

namespace draftproof::plots {

/// A cell; each has a sign of its own beside its colour.
enum class Mark { absent, kept, hit, skipped };

struct HeatMap {
  std::string title;
  std::vector<std::string> rows, columns;
  std::vector<std::vector<Mark>> cells;  ///< by row, each with one mark a column
  std::string kept, hit, skipped;        ///< what the marks mean
};

/// Returns the picture, wider with more columns. `map` must have a row and a column.
Picture drawn(const HeatMap& map);

}  // namespace draftproof::plots
