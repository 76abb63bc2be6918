#include <draftproof/cli/report/plots/plots.hpp>

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace draftproof::plots {

namespace {

/// Returns the picture with its title for screen readers. Requires a page that contains plot_style().
Picture framed(double width, double height, std::string_view title, std::string_view body) {
  return {fmt::format("<svg class=\"plot\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\">\n{}</svg>\n",
                      width, height, escaped(title), body),
          width, height};
}

/// Returns the greatest width of text(element) over the elements of `list`, in the monospaced font.
template <class List, class Text>
double widest(const List& list, Text text) {
  double width = 0;
  for (const auto& element : list) width = std::max(width, text_width(text(element), text_size, true));
  return width;
}

/// Returns the grid lines and labels of a horizontal axis; `below` is the y coordinate of the labels. A label that
/// would touch the label to its left is left out; its grid line stays.
std::string horizontal_ticks(const Axis& x, const TickText& tick_text, double width, double top, double bottom,
                             double below) {
  std::string out;
  double taken = -1e9;
  for (const double tick : x.ticks) {
    const std::string text = tick_text(tick);
    const double at = x(tick), half = text_width(text, text_size, true) / 2;
    out += line_at(at, top, at, bottom, "grid");
    if (at - half < taken + 6 || at + half > width) continue;
    out += text_at(at, below, text, Anchor::middle, "mono faint");
    taken = at + half;
  }
  return out;
}

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

/// Appends the legend in as many columns as fit, from `top` on; returns its height.
double legend_of(const LinePlot& plot, double top, std::string& out) {
  constexpr double row = 16, sample = 26, gap = 12;
  const double entry = sample + 6 + widest(plot.series, [](const Series& series) { return series.label; }) + gap;
  const auto columns = static_cast<std::size_t>(std::max(1.0, std::floor((plot.width - 8) / entry)));
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
  const double left = 28 + widest(y.ticks, plot.y_tick), right = plot.width - 12;
  const Axis x = plot.x_ticks == LinePlot::Ticks::round
                     ? linear_axis(extent.left, extent.right, left, right, 5)
                     : listed_axis({extent.places.begin(), extent.places.end()}, left, right,
                                   plot.x_ticks == LinePlot::Ticks::at_points_logarithmic);
  for (const double tick : y.ticks) {
    out += line_at(left, y(tick), right, y(tick), "grid");
    out += text_at(left - 6, y(tick) + 4, plot.y_tick(tick), Anchor::end, "mono faint");
  }
  out += horizontal_ticks(x, plot.x_tick, plot.width, top, bottom, bottom + 19);
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
  return framed(plot.width, height, plot.title, out);
}

namespace {

Axis axis_of(const BarPlot& plot, double from, double to) {
  double least = 0, greatest = 0;
  const auto hold = [&](double value) {
    least = std::min(least, value);
    greatest = std::max(greatest, value);
  };
  for (const Bar& bar : plot.bars) {
    for (const double value : {bar.value, bar.low, bar.high}) hold(value);
    if (bar.roof) hold(*bar.roof);
  }
  if (plot.greatest) hold(*plot.greatest);
  if (plot.alarm) hold(plot.alarm->value);
  return linear_axis(least, greatest, from, to, 5);
}

std::string bar_row(const BarPlot& plot, const Bar& bar, double y, double left, const Axis& x, double label) {
  constexpr double half = 5;
  std::string out = text_at(left - 6, y + 4, fitted(bar.label, label, text_size, true), Anchor::end, "mono");
  const double from = x(0), to = x(bar.value);
  std::string title = fmt::format("{}: {}", bar.label, plot.tick(bar.value));
  if (bar.low < bar.high) title += fmt::format(", {} to {}", plot.tick(bar.low), plot.tick(bar.high));
  if (bar.roof) title += fmt::format("; optimum {}", plot.tick(*bar.roof));
  out +=
      rect_at(std::min(from, to), y - half, std::max(std::abs(to - from), 1.0), 2 * half, "bar " + bar.kind, title);
  if (bar.low < bar.high)
    out +=
        fmt::format("<path d=\"M{0:.1f} {2:.1f}H{1:.1f}M{0:.1f} {3:.1f}v6M{1:.1f} {3:.1f}v6\" class=\"whisker\"/>\n",
                    x(bar.low), x(bar.high), y, y - 3);
  if (bar.roof) out += line_at(x(*bar.roof), y - half - 3, x(*bar.roof), y + half + 3, "roof");
  return out + text_at(plot.width - 4, y + 4, bar.text, Anchor::end, "mono faint");
}

}  // namespace

Picture drawn(const BarPlot& plot) {
  constexpr double row = 18, most = 212;
  double top = 0;
  std::string out = title_lines(plot.title, plot.width, top);
  const double label = std::min(widest(plot.bars, [](const Bar& bar) { return bar.label; }), most);
  const double text = widest(plot.bars, [](const Bar& bar) { return bar.text; });
  const double left = 10 + label, right = plot.width - text - 14;
  top += plot.alarm ? 22 : 6;
  const double bottom = top + row * static_cast<double>(plot.bars.size()) + 6;
  const Axis x = axis_of(plot, left, right);
  out += horizontal_ticks(x, plot.tick, plot.width, top, bottom, bottom + 14);
  double y = top + 3 + row / 2;
  for (const Bar& bar : plot.bars) {
    out += bar_row(plot, bar, y, left, x, label);
    y += row;
  }
  out += line_at(x(0), top, x(0), bottom, "axis");
  if (plot.alarm) {
    const double at = x(plot.alarm->value), half = text_width(plot.alarm->label) / 2;
    out += line_at(at, top, at, bottom, "alarm");
    out += text_at(std::clamp(at, half + 4, std::max(half + 4, plot.width - half - 4)), top - 5, plot.alarm->label,
                   Anchor::middle);
  }
  out += text_at(plot.width / 2, bottom + 31, fitted(plot.x_label, plot.width - 8), Anchor::middle);
  const double height = bottom + 38;
  return framed(plot.width, height, plot.title, out);
}

namespace {

constexpr double cell = 14;

std::string mark_at(Mark mark, double x, double y, std::string_view title) {
  if (mark == Mark::absent) return {};
  const double middle = cell / 2;
  std::string out = rect_at(x + 1, y + 1, cell - 2, cell - 2, mark == Mark::hit ? "hit" : "kept", title);
  if (mark == Mark::hit)
    out += fmt::format("<path d=\"M{:.1f} {:.1f}l6 6m-6 0l6-6\" class=\"sign\"/>\n", x + middle - 3, y + middle - 3);
  else if (mark == Mark::kept)
    out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"1.5\" class=\"dot\"/>\n", x + middle, y + middle);
  else
    out += line_at(x + middle - 3, y + middle, x + middle + 3, y + middle, "axis");
  return out;
}

}  // namespace

Picture drawn(const HeatMap& map) {
  const auto itself = [](const std::string& name) { return name; };
  double title_bottom = 0;
  const double label = std::min(widest(map.rows, itself), 220.0),
               above = std::min(widest(map.columns, itself), 240.0);
  const auto columns = static_cast<double>(map.columns.size());
  const double left = label + 12, width = std::max(400.0, left + cell * columns + 8);
  std::string out = title_lines(map.title, width, title_bottom);
  const double top = title_bottom + above + 12;
  for (std::size_t c = 0; c < map.columns.size(); ++c)
    out += fmt::format("<text transform=\"translate({:.1f} {:.1f}) rotate(-90)\" class=\"mono\">{}</text>\n",
                       left + cell * static_cast<double>(c) + cell / 2 + 4, top - 4,
                       escaped(fitted(map.columns[c], above, text_size, true)));
  for (std::size_t r = 0; r < map.rows.size(); ++r) {
    const double y = top + cell * static_cast<double>(r);
    out += text_at(left - 6, y + cell - 3, fitted(map.rows[r], label, text_size, true), Anchor::end, "mono");
    for (std::size_t c = 0; c < map.columns.size(); ++c) {
      const Mark mark = map.cells[r][c];
      const std::string& meaning = mark == Mark::hit ? map.hit : mark == Mark::kept ? map.kept : map.skipped;
      out += mark_at(mark, left + cell * static_cast<double>(c), y,
                     mark == Mark::hit ? fmt::format("{}: {} {}", map.rows[r], map.columns[c], meaning) : "");
    }
  }
  double y = top + cell * static_cast<double>(map.rows.size()) + 10, x = 10;
  for (const auto& [mark, meaning] :
       {std::pair{Mark::hit, map.hit}, std::pair{Mark::kept, map.kept}, std::pair{Mark::skipped, map.skipped}}) {
    if (meaning.empty()) continue;
    out += mark_at(mark, x, y, "") + text_at(x + cell + 5, y + cell - 3, meaning, Anchor::start);
    x += cell + 5 + text_width(meaning) + 14;
  }
  const double height = y + cell + 8;
  return framed(width, height, map.title, out);
}

}  // namespace draftproof::plots
