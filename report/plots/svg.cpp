#include <draftproof/report/plots/svg.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <draftproof/report/plots/style.hpp>

namespace draftproof::plots {

namespace {

/// The number of bytes of the code point that begins with `lead`; 1 for a byte that begins none.
std::size_t bytes_of_code_point(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

/// Width of a code point in units of the font size. Ideographs and symbols beyond U+1000 take a square and more.
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
  std::string result;
  for (const char character : text) {
    switch (character) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        if (static_cast<unsigned char>(character) < 0x20 && character != '\n' && character != '\t')
          result += "\xEF\xBF\xBD";
        else
          result += character;
    }
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
  // Circle, square, triangle, diamond, triangle on its head, cross: of about the same area.
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

std::string picture(double width, double height, std::string_view title, std::string_view body) {
  return fmt::format("<svg class=\"plot\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\">\n{}</svg>\n",
                     width, height, escaped(title), body);
}

std::string svg_file(std::string picture, double width, double height) {
  const std::string_view open = "<svg ";
  picture.replace(
      0, open.size(),
      fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0f}\" height=\"{:.0f}\" ", width, height));
  const auto end = picture.find(">\n") + 2;
  picture.insert(end,
                 fmt::format("<style>\n{}{}</style>\n<rect class=\"ground\" width=\"{:.0f}\" height=\"{:.0f}\"/>\n",
                             colour_style(".plot"), plot_style(), width, height));
  return picture;
}

}  // namespace draftproof::plots
