#include <draftproof/cli/report/plots/plots.hpp>

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include <draftproof/cli/report/text.hpp>

namespace draftproof::plots {

namespace {

/// Returns the number of bytes of the code point that begins with `lead`; 1 for any other byte.
std::size_t bytes_of_code_point(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

/// Returns an upper bound of the width of a code point, in units of the font size. `lead` is its first UTF-8 byte. Code
/// points from U+1000 on, such as ideographs and symbols, may be wider than the font size.
double advance(char lead, bool mono) {
  if (static_cast<unsigned char>(lead) >= 0xE1) return 1.3;
  return mono ? 0.62 : 0.64;
}

std::string titled(std::string_view name, std::string_view attributes, std::string_view title) {
  if (title.empty()) return fmt::format("<{} {}/>\n", name, attributes);
  return fmt::format("<{} {}><title>{}</title></{}>\n", name, attributes, escaped(title), name);
}

const char* name_of(Anchor anchor) {
  return anchor == Anchor::start ? "start" : anchor == Anchor::middle ? "middle" : "end";
}

}  // namespace

std::string escaped(std::string_view text) {
  static const std::map<char, std::string_view> entities{
      {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
  std::string result;
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    const bool control = (byte < 0x20 && character != '\n' && character != '\t') || byte == 0x7F;
    if (const auto entity = entities.find(character); entity != entities.end())
      result += entity->second;
    else
      result += control ? "\xEF\xBF\xBD" : std::string(1, character);
  }
  return result;
}

double text_width(std::string_view text, double size, bool mono) {
  double width = 0;
  for (std::size_t at = 0; at < text.size(); at += bytes_of_code_point(text[at])) width += advance(text[at], mono);
  return width * size;
}

std::string fitted(std::string_view text, double width, double size, bool mono) {
  constexpr std::string_view ellipsis = "…";
  if (text_width(text, size, mono) <= width) return std::string(text);
  double left = width / size - advance(ellipsis.front(), mono);
  std::size_t at = 0;
  while (at < text.size() && (left -= advance(text[at], mono)) >= 0) at += bytes_of_code_point(text[at]);
  return std::string(text.substr(0, at)) + std::string(ellipsis);
}

std::vector<std::string> wrapped(std::string_view text, double width, double size) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!lines.empty() && text_width(lines.back() + " " + std::string(word), size) <= width)
      lines.back() += " " + std::string(word);
    else
      lines.push_back(fitted(word, width, size));
  }
  return lines;
}

std::string text_at(double x, double y, std::string_view text, Anchor anchor, std::string_view classes) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, name_of(anchor),
                     classes.empty() ? "" : fmt::format(" class=\"{}\"", classes), escaped(text));
}

std::string line_at(double x1, double y1, double x2, double y2, std::string_view classes) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", x1, y1, x2, y2,
                     classes);
}

std::string rect_at(double x, double y, double width, double height, std::string_view classes,
                    std::string_view title) {
  return titled("rect",
                fmt::format("x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"{}\"", x, y, width,
                            height, classes),
                title);
}

std::string marker_at(double x, double y, std::size_t index, std::string_view title) {
  // The shapes are circle, square, triangle, diamond, inverted triangle and cross, all of about the same area.
  static constexpr const char* paths[] = {"m-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0-7.2 0z",
                                          "m-3.3-3.3h6.6v6.6h-6.6z",
                                          "m0-4.4l4.2 7.4h-8.4z",
                                          "m0-4.6l4.6 4.6l-4.6 4.6l-4.6-4.6z",
                                          "m0 4.4l4.2-7.4h-8.4z",
                                          "m-4.3-1.5h2.8v-2.8h3v2.8h2.8v3h-2.8v2.8h-3v-2.8h-2.8z"};
  return titled(
      "path", fmt::format("d=\"M{:.1f} {:.1f}{}\" class=\"mark c{}\"", x, y, paths[index % shapes], index % colours),
      title);
}

std::string title_lines(std::string_view title, double width, double& bottom) {
  std::string out;
  bottom = 4;
  for (const std::string& line : wrapped(title, width - 8, title_size)) {
    out += text_at(4, bottom + title_size, line, Anchor::start, "head");
    bottom += title_size + 4;
  }
  return out;
}

std::string Picture::file() const {
  const std::string_view open = "<svg ";
  std::string file = svg;
  file.replace(
      0, open.size(),
      fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0f}\" height=\"{:.0f}\" ", width, height));
  file.insert(file.find(">\n") + 2,
              fmt::format("<style>\n{}{}</style>\n<rect class=\"ground\" width=\"{:.0f}\" height=\"{:.0f}\"/>\n",
                          colour_style(".plot"), plot_style(), width, height));
  return file;
}

std::string colour_style(std::string_view selector) {
  constexpr std::string_view light =
      "--paper:#fff;--ink:#1b1f24;--faint:#57606a;--grid:#e1e5ea;--panel:#f5f7f9;--good:#00664b;--bad:#b03a00;"
      "--c0:#0072b2;--c1:#d55e00;--c2:#00805c;--c3:#a8508a;--c4:#8a6200;--c5:#2f86bd;--c6:#30363d";
  constexpr std::string_view dark =
      "--paper:#14181d;--ink:#e8ebee;--faint:#a3adb8;--grid:#323a43;--panel:#1d232a;--good:#4fd0a5;--bad:#ff9a66;"
      "--c0:#5ab4ea;--c1:#ff8f4d;--c2:#3fcfa2;--c3:#eaa0cf;--c4:#e8bd4a;--c5:#9ad0f5;--c6:#cdd5dd";
  return fmt::format("{0}{{{1}}}\n@media (prefers-color-scheme:dark){{{0}{{{2}}}}}\n@media print{{{0}{{{1}}}}}\n",
                     selector, light, dark);
}

std::string plot_style() {
  std::string style =
      ".plot{font:11px system-ui,\"DejaVu Sans\",sans-serif;fill:var(--ink)}\n"
      ".plot .head{font-size:13px;font-weight:600}\n"
      ".plot .mono{font-family:ui-monospace,\"DejaVu Sans Mono\",monospace}\n"
      ".plot .faint{fill:var(--faint)}\n"
      ".plot .ground{fill:var(--paper)}\n"
      ".plot .grid{stroke:var(--grid)}\n"
      ".plot .axis{stroke:var(--faint);fill:none}\n"
      ".plot .roof{stroke:var(--ink);stroke-width:2.2;fill:none}\n"
      ".plot .above{fill:var(--grid);opacity:.6}\n"
      ".plot .alarm{stroke:var(--bad);stroke-width:1.6;stroke-dasharray:5 3}\n"
      ".plot .trend{fill:none;stroke-width:1.8}\n"
      ".plot .dashed{stroke-dasharray:5 3}\n"
      ".plot .span{stroke-width:1.3;fill:none}\n"
      ".plot .whisker{stroke:var(--ink);stroke-width:1.2}\n"
      ".plot .mark{stroke:var(--paper);stroke-width:.8}\n"
      ".plot .bar{fill:var(--c0)}\n"
      ".plot .bar.lossy{fill:var(--c4)}\n"
      ".plot .bar.mutant{fill:var(--c1)}\n"
      ".plot .hit{fill:var(--c1)}\n"
      ".plot .kept{fill:var(--grid)}\n"
      ".plot .sign{stroke:var(--paper);stroke-width:1.6}\n"
      ".plot .dot{fill:var(--faint)}\n";
  for (int i = 0; i < 7; ++i)
    style += fmt::format(
        ".plot .mark.c{0}{{fill:var(--c{0})}}.plot .trend.c{0},.plot .span.c{0}{{stroke:var(--c{0})}}\n", i);
  return style;
}

Axis linear_axis(double least, double greatest, double from, double to, int ticks) {
  // A single value, or values that differ only by rounding, would give an axis without length, so the ends move apart.
  if (const double size = std::max(std::abs(least), std::abs(greatest)); !(greatest - least > 1e-9 * size)) {
    const double room = std::max(size * 0.05, 1e-6);
    least -= room;
    greatest += room;
  }
  const double raw = (greatest - least) / ticks, decade = std::pow(10, std::floor(std::log10(raw)));
  double step = 10 * decade;
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * decade >= raw) {
      step = factor * decade;
      break;
    }
  const double first = std::floor(least / step + 1e-9), last = std::ceil(greatest / step - 1e-9);
  Axis axis{.low = first * step, .high = last * step, .from = from, .to = to};
  for (double n = first; n <= last; ++n) axis.ticks.push_back(n * step);
  return axis;
}

Axis decade_axis(double least, double greatest, double from, double to) {
  const double first = std::floor(std::log10(least)), last = std::max(std::ceil(std::log10(greatest)), first + 1);
  Axis axis{.logarithmic = true, .low = std::pow(10, first), .high = std::pow(10, last), .from = from, .to = to};
  for (double exponent = first; exponent <= last; ++exponent) axis.ticks.push_back(std::pow(10, exponent));
  return axis;
}

Axis listed_axis(const std::vector<double>& values, double from, double to, bool logarithmic) {
  // A margin keeps markers off the frame, and gives an axis of a single value a width.
  const double margin = std::max(0.08 * (values.back() - values.front()), 1e-3);
  return {.logarithmic = logarithmic,
          .low = logarithmic ? values.front() / 1.25 : values.front() - margin,
          .high = logarithmic ? values.back() * 1.25 : values.back() + margin,
          .from = from,
          .to = to,
          .ticks = values};
}

std::string number_text(double value) {
  const double size = std::abs(value);
  if (size >= 1e4 && size < 1e15 && value == std::floor(value))
    return (value < 0 ? "-" : "") + grouped(static_cast<std::uint64_t>(size));
  return fmt::format("{:.6g}", size < 1e-12 ? 0 : value);
}

std::string time_tick(double seconds) {
  for (const auto& [unit, name] : {std::pair{1.0, "s"}, {1e-3, "ms"}, {1e-6, "us"}})
    if (seconds >= unit * 0.999) return fmt::format("{:.3g} {}", seconds / unit, name);
  return fmt::format("{:.3g} ns", seconds * 1e9);
}

std::string rate_tick(double rate) {
  for (const auto& [unit, name] : {std::pair{1e9, " G"}, {1e6, " M"}, {1e3, " k"}})
    if (rate >= unit * 0.999) return fmt::format("{:.3g}{}", rate / unit, name);
  return fmt::format("{:.3g}", rate);
}

std::string whole_tick(double value) { return grouped(static_cast<std::uint64_t>(value + 0.5)); }

std::string percent_tick(double share) { return fmt::format("{:.6g} %", 100 * share); }

std::string power_tick(double exponent) {
  static constexpr const char* digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = "10";
  for (const char digit : fmt::format("{:.6g}", exponent))
    text += digit == '-' ? "⁻" : digit >= '0' && digit <= '9' ? digits[digit - '0'] : "·";
  return text;
}

}  // namespace draftproof::plots
