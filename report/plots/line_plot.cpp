#include <draftproof/report/plots/line_plot.hpp>

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace draftproof::plots {

namespace {

struct Extent {
  double left = INFINITY, right = -INFINITY, bottom = INFINITY, top = -INFINITY;
  std::set<double> places{};

  explicit Extent(const LinePlot& plot) {
    for (const Series& series : plot.series)
      for (const Point& point : series.points) {
        places.insert(point.x);
        left = std::min(left, point.x);
        right = std::max(right, point.x);
        bottom = std::min({bottom, point.y, point.low});
        top = std::max({top, point.y, point.high});
      }
  }
};

/// The legend in as many columns as fit, from `top`; returns its height.
double legend_of(const LinePlot& plot, double top, std::string& out) {
  constexpr double row = 16, sample = 26, gap = 12;
  const auto entry_width = [&](const Series& series) {
    return sample + 6 + text_width(series.label, text_size, true) + gap;
  };
  double widest = 0;
  for (const Series& series : plot.series) widest = std::max(widest, entry_width(series));
  const auto columns = static_cast<std::size_t>(std::max(1.0, std::floor((plot.width - 8) / widest)));
  const double column = (plot.width - 8) / static_cast<double>(columns);
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const Series& series = plot.series[i];
    const double x = 8 + column * static_cast<double>(i % columns);
    const double y = top + row * static_cast<double>(i / columns) + row / 2;
    const bool roof = series.stroke == Stroke::roof;
    if (series.stroke != Stroke::points)
      out += line_at(
          x, y, x + sample, y,
          roof ? "roof" : fmt::format("trend c{}{}", i % colours, series.stroke == Stroke::dashed ? " dashed" : ""));
    if (!roof) out += marker_at(x + sample / 2, y, i);
    out += text_at(x + sample + 6, y + 4, fitted(series.label, column - sample - 10, text_size, true), Anchor::start,
                   "mono");
  }
  return row * std::ceil(static_cast<double>(plot.series.size()) / static_cast<double>(columns));
}

std::string value_title(const LinePlot& plot, const Series& series, const Point& point) {
  if (!point.title.empty()) return point.title;
  std::string text = fmt::format("{}: {} at {}", series.label, plot.y_tick(point.y), plot.x_tick(point.x));
  if (point.low < point.high) text += fmt::format(", {} to {}", plot.y_tick(point.low), plot.y_tick(point.high));
  return text;
}

std::string series_of_plot(const LinePlot& plot, std::size_t index, const Axis& x, const Axis& y) {
  const Series& series = plot.series[index];
  std::string points, out;
  for (const Point& point : series.points) points += fmt::format("{:.1f},{:.1f} ", x(point.x), y(point.y));
  points.pop_back();
  if (series.stroke == Stroke::roof) {
    out += fmt::format("<polygon points=\"{} {:.1f},{:.1f} {:.1f},{:.1f}\" class=\"above\"/>\n", points,
                       x(series.points.back().x), y.to, x(series.points.front().x), y.to);
    out += fmt::format("<polyline points=\"{}\" class=\"roof\"><title>{}</title></polyline>\n", points,
                       escaped(series.label));
    return out;
  }
  const std::size_t colour = index % colours;
  if (series.stroke != Stroke::points)
    out += fmt::format("<polyline points=\"{}\" class=\"trend c{}{}\"/>\n", points, colour,
                       series.stroke == Stroke::dashed ? " dashed" : "");
  for (const Point& point : series.points)
    if (point.low < point.high) {
      const double at = x(point.x), low = y(point.low), high = y(point.high);
      out += fmt::format(
          "<path d=\"M{0:.1f} {1:.1f}V{2:.1f}M{3:.1f} {1:.1f}h6M{3:.1f} {2:.1f}h6\" class=\"span c{4}\"/>\n", at, low,
          high, at - 3, colour);
    }
  for (const Point& point : series.points)
    out += marker_at(x(point.x), y(point.y), index, value_title(plot, series, point));
  return out;
}

}  // namespace

Picture drawn(const LinePlot& plot) {
  const Extent extent(plot);
  double top = 0;
  std::string out = title_lines(plot.title, plot.width, top);
  top += 10;
  const double bottom = top + plot.plane;
  const Axis y = plot.logarithmic ? decade_axis(extent.bottom, extent.top, bottom, top)
                                  : linear_axis(extent.bottom, extent.top, bottom, top, 5);
  double label = 0;
  for (const double tick : y.ticks) label = std::max(label, text_width(plot.y_tick(tick), text_size, true));
  const double left = 28 + label, right = plot.width - 12;
  const Axis x = plot.x_ticks == LinePlot::Ticks::round
                     ? linear_axis(extent.left, extent.right, left, right, 5)
                     : listed_axis({extent.places.begin(), extent.places.end()}, left, right,
                                   plot.x_ticks == LinePlot::Ticks::at_points_logarithmic);
  for (const double tick : y.ticks) {
    out += line_at(left, y(tick), right, y(tick), "grid");
    out += text_at(left - 6, y(tick) + 4, plot.y_tick(tick), Anchor::end, "mono faint");
  }
  double taken = -1e9;  // a label that would touch the last one is left out; its grid line stays
  for (const double tick : x.ticks) {
    const double at = x(tick), half = text_width(plot.x_tick(tick), text_size, true) / 2;
    out += line_at(at, top, at, bottom, "grid");
    if (at - half < taken + 6 || at + half > plot.width) continue;
    out += text_at(at, bottom + 19, plot.x_tick(tick), Anchor::middle, "mono faint");
    taken = at + half;
  }
  for (std::size_t i = 0; i < plot.series.size(); ++i)
    if (plot.series[i].stroke == Stroke::roof) out += series_of_plot(plot, i, x, y);
  out += rect_at(left, top, right - left, bottom - top, "axis");
  for (std::size_t i = 0; i < plot.series.size(); ++i)
    if (plot.series[i].stroke != Stroke::roof) out += series_of_plot(plot, i, x, y);
  out += text_at((left + right) / 2, bottom + 36, fitted(plot.x_label, plot.width - 8), Anchor::middle);
  const double middle = (top + bottom) / 2;
  out += fmt::format("<text transform=\"translate(12 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                     middle, escaped(fitted(plot.y_label, bottom - top)));
  const double legend = bottom + 46;
  const double height = legend + legend_of(plot, legend, out) + 4;
  return {picture(plot.width, height, plot.title, out), plot.width, height};
}

}  // namespace draftproof::plots
