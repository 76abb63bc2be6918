// A plot of lines or points over two axes, with intervals, a roof that no point may pass, and a legend below.
//
//   roof     an upper bound, drawn as a thick line without markers; the region above it is shaded
//   dashed   floors, peers and other lines to compare with
//   points   not joined
//
// A line has a colour and a marker of its own, by its place in `series`. Cost: one string.
#pragma once

#include <string>
#include <vector>

#include <draftproof/report/plots/axis.hpp>
#include <draftproof/report/plots/svg.hpp>

namespace draftproof::plots {

struct Point {
  double x = 0, y = 0;
  double low = y, high = y;  ///< interval; none where both are y
  std::string title{};       ///< shown under the pointer; "" for the coordinates

  friend bool operator==(const Point&, const Point&) = default;
};

enum class Stroke { solid, dashed, roof, points };

struct Series {
  std::string label;
  std::vector<Point> points;  ///< ascending in x
  Stroke stroke = Stroke::solid;
};

struct LinePlot {
  std::string title, x_label, y_label;
  std::vector<Series> series{};
  TickText x_tick = number_text, y_tick = number_text;
  enum class Ticks { round, at_points, at_points_logarithmic } x_ticks = Ticks::round;
  bool logarithmic = false;         ///< the y axis, over whole decades; else linear
  double width = 400, plane = 210;  ///< pixels of the picture, and of the height of the plane

  bool empty() const { return series.empty(); }
};

struct Picture {
  std::string svg;  ///< for a page that has the style
  double width = 0, height = 0;

  /// The picture as a file.
  std::string file() const { return svg_file(svg, width, height); }
};

/// Returns the picture. `plot` must have a series, and every series a point.
Picture drawn(const LinePlot& plot);

}  // namespace draftproof::plots
