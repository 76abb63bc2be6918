// Plots as SVG: lines or points over two axes, horizontal bars, and matrices of signs. Equal arguments give equal
// bytes.
//
//   c0 .. c6   colours of series: the palette of Okabe and Ito, safe for the colour-blind, darkened for a white
//              background and lightened for a dark one; markers, labels and symbols distinguish the series as well
//   roof       an upper bound, drawn as a thick line without markers; the region above it is shaded
//   dashed     lower bounds, peers and other lines to compare with
//   points     markers without a line
//   width      for a text, an upper bound from its code points, because the font of a reader is not known
//
// All coordinates are pixels of the view box. The index of a series in `series` selects its colour and its marker.
#pragma once

#include <cmath>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace draftproof::plots {

enum class Anchor { start, middle, end };

inline constexpr double text_size = 11, title_size = 13;
inline constexpr std::size_t colours = 7, shapes = 6;

/// Returns `text` escaped for the content or an attribute of XML and HTML. A control character becomes U+FFFD.
std::string escaped(std::string_view text);
/// Returns an upper bound of the width of `text` in pixels; `mono`: in the monospaced font of names and numbers.
double text_width(std::string_view text, double size = text_size, bool mono = false);
/// Returns the longest beginning of `text` of at most `width` pixels, with an ellipsis if it was cut.
std::string fitted(std::string_view text, double width, double size = text_size, bool mono = false);
/// Returns `text` broken at spaces into lines of at most `width` pixels. A word that is too long is cut.
std::vector<std::string> wrapped(std::string_view text, double width, double size = text_size);

/// Returns a text element; `classes` are classes of plot_style(), for example "mono faint".
std::string text_at(double x, double y, std::string_view text, Anchor anchor, std::string_view classes = {});
std::string line_at(double x1, double y1, double x2, double y2, std::string_view classes);
std::string rect_at(double x, double y, double width, double height, std::string_view classes,
                    std::string_view title = {});
/// Returns a marker around a point; `index` selects one of `shapes` shapes and the colour. A browser shows `title`
/// under the pointer.
std::string marker_at(double x, double y, std::size_t index, std::string_view title = {});
/// Returns the lines of a title, drawn from the top left corner; sets `bottom` to the y coordinate below them.
std::string title_lines(std::string_view title, double width, double& bottom);

/// Returns the CSS variables of colours for the elements of `selector`: dark colours on a screen whose user prefers
/// them, else light colours.
std::string colour_style(std::string_view selector);
/// Returns the style rules of the classes that plots use.
std::string plot_style();

/// The text of a value at a tick.
using TickText = std::function<std::string(double)>;

struct Axis {
  bool logarithmic = false;
  double low = 0, high = 1;     ///< values at the two ends of the axis
  double from = 0, to = 1;      ///< coordinates of the ends in pixels
  std::vector<double> ticks{};  ///< ascending values from `low` to `high`

  double operator()(double value) const {
    const double share = logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
    return from + (to - from) * share;
  }
};

/// Returns an axis that covers `least` to `greatest`, with its ends and about `ticks` ticks at round numbers.
Axis linear_axis(double least, double greatest, double from, double to, int ticks);
/// Returns a logarithmic axis over whole decades; values must be positive.
Axis decade_axis(double least, double greatest, double from, double to);
/// Returns an axis with a tick at each of `values` and a margin at both ends. Requires at least one value, ascending
/// order, and positive values if the axis is logarithmic.
Axis listed_axis(const std::vector<double>& values, double from, double to, bool logarithmic = true);

std::string number_text(double value);    ///< "0.85", "12,000", "1e-06"
std::string time_tick(double seconds);    ///< "10 us"
std::string rate_tick(double rate);       ///< "1 M"
std::string whole_tick(double value);     ///< "128,256"
std::string percent_tick(double share);   ///< "85 %" of 0.85
std::string power_tick(double exponent);  ///< "10⁻³" of -3

struct Picture {
  std::string svg;  ///< an SVG element for a page that contains plot_style()
  double width = 0, height = 0;

  /// Returns the picture as a file: with namespace, size, style and background.
  std::string file() const;
};

struct Point {
  double x = 0, y = 0;
  double low = y, high = y;  ///< interval; not drawn if both are y
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
  bool logarithmic = false;         ///< true: the y axis is logarithmic and covers whole decades; false: it is linear
  double width = 400, plane = 210;  ///< width of the picture and height of the area with the lines, in pixels

  bool empty() const { return series.empty(); }
};

/// Returns the picture. `plot` must have a series, and every series a point.
Picture drawn(const LinePlot& plot);

struct Bar {
  std::string label;
  double value = 0;
  double low = value, high = value;  ///< interval; not drawn if both are the value
  std::string text{};                ///< text at the right end of the row
  std::optional<double> roof{};      ///< value shown by a thick stroke across the bar, for example the optimum
  std::string kind{};                ///< class of the bar: "", "lossy" or "mutant"
};

struct AlarmLine {
  double value;
  std::string label;
};

struct BarPlot {
  std::string title, x_label;
  std::vector<Bar> bars;
  TickText tick = number_text;
  std::optional<double> greatest{};  ///< the axis extends at least from 0 to this value
  std::optional<AlarmLine> alarm{};  ///< a dashed line with a label across all bars
  double width = 400;
};

/// Returns the picture. `plot` must have a bar.
Picture drawn(const BarPlot& plot);

/// A cell of a matrix, shown by a sign and a colour.
enum class Mark { absent, kept, hit, skipped };

struct HeatMap {
  std::string title;
  std::vector<std::string> rows, columns;
  std::vector<std::vector<Mark>> cells;  ///< marks by row and column
  std::string kept, hit, skipped;        ///< meanings of the marks, for the legend
};

/// Returns the picture; its width grows with the number of columns. `map` must have a row and a column.
Picture drawn(const HeatMap& map);

}  // namespace draftproof::plots
