#include <draftproof/bench/page/plot.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>

namespace draftproof::benchmarks {

namespace {

constexpr double width = 860, height = 460, left = 84, right = 560, top = 44, bottom = 400;
constexpr double legend = right + 28, line_height = 19;

// Okabe and Ito's colours, distinct for colour-blind readers; without the yellow, which is too pale on white.
constexpr std::array colours{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000"};

std::string escaped(const std::string& text) {
  std::string result;
  for (const char character : text) {
    if (character == '<')
      result += "&lt;";
    else if (character == '&')
      result += "&amp;";
    else
      result += character;
  }
  return result;
}

std::string text(double x, double y, const std::string& content, const char* anchor, const char* more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, more,
                     escaped(content));
}

std::string line(double x1, double y1, double x2, double y2, const char* style) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1, x2, y2, style);
}

/// One of four shapes around a point.
std::string marker(double x, double y, std::size_t index, const char* colour) {
  const double r = 4;
  switch (index % 4) {
    case 0:
      return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill=\"{}\"/>\n", x, y, r, colour);
    case 1:
      return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n", x - r, y - r,
                         2 * r, 2 * r, colour);
    case 2:
      return fmt::format("<path d=\"M{:.1f} {:.1f}l{} {}h{}z\" fill=\"{}\"/>\n", x, y - r - 1, r + 1, 2 * r + 1,
                         -2 * r - 2, colour);
    default:
      return fmt::format("<path d=\"M{:.1f} {:.1f}l{} {}l{} {}l{} {}z\" fill=\"{}\"/>\n", x, y - r - 1, r + 1, r + 1,
                         -r - 1, r + 1, -r - 1, -r - 1, colour);
  }
}

/// A logarithmic axis of values `low` to `high`, at coordinates `from` to `to`.
struct Axis {
  double low, high, from, to;
  double operator()(double value) const { return from + (to - from) * std::log(value / low) / std::log(high / low); }
};

std::string drawn(const Series& series, std::size_t index, const Axis& x, const Axis& y) {
  const char* colour = colours[index % colours.size()];
  const char* dash = series.dashed ? " stroke-dasharray=\"6 4\"" : "";
  std::string out, points;
  for (const auto& [at, value] : series.points) points += fmt::format("{:.1f},{:.1f} ", x(at), y(value));
  if (!points.empty()) points.pop_back();
  out += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"{}/>\n", points, colour,
                     dash);
  for (const auto& [at, value] : series.points) out += marker(x(at), y(value), index, colour);
  const double row = top + 12 + line_height * static_cast<double>(index);
  out += fmt::format("<polyline points=\"{:.1f},{:.1f} {:.1f},{:.1f}\" stroke=\"{}\" stroke-width=\"2\"{}/>\n",
                     legend, row - 4, legend + 30, row - 4, colour, dash);
  out += marker(legend + 15, row - 4, index, colour);
  return out + text(legend + 38, row, series.label, "start");
}

}  // namespace

std::string svg(const Plot& plot) {
  std::set<double> positions;
  double least = 1e300, greatest = 0;
  for (const Series& series : plot.series)
    for (const auto& [at, value] : series.points) {
      positions.insert(at);
      least = std::min(least, value);
      greatest = std::max(greatest, value);
    }
  const double first = std::floor(std::log10(least)), last = std::max(std::ceil(std::log10(greatest)), first + 1);
  // A margin at both ends keeps markers off the frame, and widens an axis of a single position.
  const Axis x{*positions.begin() / 1.25, *positions.rbegin() * 1.25, left, right};
  const Axis y{std::pow(10, first), std::pow(10, last), bottom, top};
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "font-family=\"sans-serif\" font-size=\"13\" fill=\"#222\" role=\"img\">\n<title>{2}</title>\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n",
      width, height, escaped(plot.title));
  out += text(left, 24, plot.title, "start", " font-size=\"15\" font-weight=\"bold\"");
  for (double exponent = first; exponent <= last; ++exponent) {
    const double value = std::pow(10, exponent), at = y(value);
    out += line(left, at, right, at, "stroke=\"#ddd\"");
    out += text(left - 8, at + 4, plot.y_tick(value), "end");
  }
  double previous = -1e9;  // a label that would touch the last one is left out; its grid line stays
  for (const double value : positions) {
    const double at = x(value);
    out += line(at, top, at, bottom, "stroke=\"#eee\"");
    if (at - previous < 52) continue;
    out += text(at, bottom + 18, plot.x_tick(value), "middle");
    previous = at;
  }
  out += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#888\"/>\n", left,
                     top, right - left, bottom - top);
  out += text((left + right) / 2, bottom + 42, plot.x_label, "middle");
  const double middle = (top + bottom) / 2;
  out +=
      text(20, middle, plot.y_label, "middle", fmt::format(" transform=\"rotate(-90 20 {:.1f})\"", middle).c_str());
  for (std::size_t i = 0; i < plot.series.size(); ++i) out += drawn(plot.series[i], i, x, y);
  return out + "</svg>\n";
}

}  // namespace draftproof::benchmarks
