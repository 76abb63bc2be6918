#include <draftproof/report/plots/bar_plot.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace draftproof::plots {

namespace {

Axis axis_of(const BarPlot& plot, double from, double to) {
  double least = plot.base, greatest = plot.base;
  const auto hold = [&](double value) {
    least = std::min(least, value);
    greatest = std::max(greatest, value);
  };
  for (const Bar& bar : plot.bars) {
    for (const double value : {bar.value, bar.low, bar.high}) hold(value);
    if (bar.roof) hold(*bar.roof);
  }
  for (const auto& end : {plot.least, plot.greatest})
    if (end) hold(*end);
  if (plot.alarm) hold(plot.alarm->value);
  return linear_axis(least, greatest, from, to, 5);
}

std::string bar_row(const BarPlot& plot, const Bar& bar, double y, double left, const Axis& x, double label) {
  constexpr double half = 5;
  std::string out = text_at(left - 6, y + 4, fitted(bar.label, label, text_size, true), Anchor::end, "mono");
  const double from = x(plot.base), to = x(bar.value);
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
  double top = 0, label = 0, text = 0;
  std::string out = title_lines(plot.title, plot.width, top);
  for (const Bar& bar : plot.bars) {
    label = std::max(label, text_width(bar.label, text_size, true));
    text = std::max(text, text_width(bar.text, text_size, true));
  }
  label = std::min(label, most);
  const double left = 10 + label, right = plot.width - text - 14;
  top += plot.alarm ? 22 : 6;
  const double bottom = top + row * static_cast<double>(plot.bars.size()) + 6;
  const Axis x = axis_of(plot, left, right);
  double taken = -1e9;
  for (const double tick : x.ticks) {
    const double at = x(tick), half = text_width(plot.tick(tick), text_size, true) / 2;
    out += line_at(at, top, at, bottom, "grid");
    if (at - half < taken + 6 || at + half > plot.width) continue;
    out += text_at(at, bottom + 14, plot.tick(tick), Anchor::middle, "mono faint");
    taken = at + half;
  }
  double y = top + 3 + row / 2;
  for (const Bar& bar : plot.bars) {
    out += bar_row(plot, bar, y, left, x, label);
    y += row;
  }
  out += line_at(x(plot.base), top, x(plot.base), bottom, "axis");
  if (plot.alarm) {
    const double at = x(plot.alarm->value), half = text_width(plot.alarm->label) / 2;
    out += line_at(at, top, at, bottom, "alarm");
    out += text_at(std::clamp(at, half + 4, std::max(half + 4, plot.width - half - 4)), top - 5, plot.alarm->label,
                   Anchor::middle);
  }
  out += text_at(plot.width / 2, bottom + 31, fitted(plot.x_label, plot.width - 8), Anchor::middle);
  const double height = bottom + 38;
  return {picture(plot.width, height, plot.title, out), plot.width, height};
}

}  // namespace draftproof::plots
