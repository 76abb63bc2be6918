// A line plot as an SVG document: logarithmic axes with ticks in units, a legend, white ground so that it reads the
// same on light and dark pages.
//
//   x, y     positive; both axes logarithmic, the y axis over whole decades
//   dashed   floors and peers, so that lines are told apart without colour; markers differ, too
//
// Cost: text. The same bytes for the same series.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace draftproof::benchmarks {

struct Series {
  std::string label;
  std::vector<std::pair<double, double>> points;  ///< ascending in x
  bool dashed = false;
};

struct Plot {
  std::string title, x_label, y_label;
  std::vector<Series> series{};
  std::function<std::string(double)> x_tick{}, y_tick{};

  bool empty() const { return series.empty(); }
};

/// `plot` is not empty, and no series of it.
std::string svg(const Plot& plot);

}  // namespace draftproof::benchmarks
