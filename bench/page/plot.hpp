// A line plot as an SVG document: logarithmic axes with ticks in units, a legend, and a white background, so that it
// reads the same on light and dark pages.
//
//   x, y     positive; both axes logarithmic, the y axis over whole decades
//   dashed   floors and peers, which distinguishes lines without colour; markers differ too
//
// Cost: one string. Equal series give equal bytes.
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

/// Returns the SVG. `plot` must have a series, and every series a point.
std::string svg(const Plot& plot);

}  // namespace draftproof::benchmarks
