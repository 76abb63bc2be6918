#include <draftproof/report/plots/heat_map.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace draftproof::plots {

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
  double label = 0, above = 0, title_bottom = 0;
  for (const std::string& row : map.rows) label = std::max(label, text_width(row, text_size, true));
  for (const std::string& column : map.columns) above = std::max(above, text_width(column, text_size, true));
  label = std::min(label, 220.0);
  above = std::min(above, 240.0);
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
  return {picture(width, height, map.title, out), width, height};
}

}  // namespace draftproof::plots
