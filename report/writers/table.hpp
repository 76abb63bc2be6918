// Aligned text for a terminal; the default writer.
#pragma once

#include <algorithm>

#include <draftproof/report/register_writer.hpp>
#include <draftproof/report/text.hpp>

namespace draftproof::writers {

struct Table {
  static constexpr std::string_view name = "table";
  static constexpr std::string_view about = "aligned text for people";

  static void write(const Document& document, std::ostream& out, const WriterOptions& options) {
    bool first = true;
    for (const Section& section : document.sections) {
      if (!first) out << '\n';
      first = false;
      if (!section.title.empty()) out << painted(section.title, "\033[1m", options) << '\n';
      for (const auto& line : section.before) out << line << '\n';
      write_table(section.table, out, options);
      for (const auto& line : section.after) out << line << '\n';
    }
  }

 private:
  static std::string painted(const std::string& text, std::string_view code, const WriterOptions& options) {
    return options.colour && !code.empty() ? std::string(code) + text + "\033[0m" : text;
  }
  static std::string_view code_of(Tone tone) {
    switch (tone) {
      case Tone::good:
        return "\033[32m";
      case Tone::bad:
        return "\033[31m";
      case Tone::faint:
        return "\033[2m";
      case Tone::plain:
        break;
    }
    return {};
  }

  /// Narrows the widest columns of text until a line fits, none below `narrowest`.
  static void fit(const draftproof::Table& table, std::size_t width, std::vector<std::size_t>& widths) {
    constexpr std::size_t narrowest = 14;
    for (;;) {
      std::size_t line = 0, widest = table.columns.size();
      for (std::size_t c = 0; c < widths.size(); ++c) {
        line += widths[c] + 2;
        if (!table.columns[c].numeric && widths[c] > narrowest &&
            (widest == widths.size() || widths[c] > widths[widest]))
          widest = c;
      }
      if (line <= width || widest == widths.size()) return;
      --widths[widest];
    }
  }

  static void write_table(const draftproof::Table& table, std::ostream& out, const WriterOptions& options) {
    std::vector<std::size_t> widths;
    for (const Column& column : table.columns) widths.push_back(display_width(column.title));
    for (const auto& row : table.rows)
      for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], display_width(row[c].text));
    if (options.width > 0) fit(table, options.width, widths);
    const auto write_row = [&](auto text_of, auto tone_of) {
      std::vector<std::vector<std::string>> cells;
      std::size_t lines = 1;
      for (std::size_t c = 0; c < table.columns.size(); ++c) {
        const bool whole = options.width == 0 || display_width(text_of(c)) <= widths[c];
        cells.push_back(whole ? std::vector<std::string>{text_of(c)} : wrapped(text_of(c), widths[c]));
        lines = std::max(lines, cells.back().size());
      }
      for (std::size_t n = 0; n < lines; ++n) {
        std::string line;
        for (std::size_t c = 0; c < cells.size(); ++c) {
          const bool last = c + 1 == cells.size();
          const bool right = table.columns[c].numeric;
          const std::string part = n < cells[c].size() ? cells[c][n] : std::string();
          const std::string cell = padded(part, last && !right ? 0 : widths[c], right);
          line += "  " + painted(cell, lines > 1 && part.empty() ? std::string_view() : tone_of(c), options);
        }
        if (lines > 1) line.erase(line.find_last_not_of(' ') + 1);
        out << line << '\n';
      }
    };
    if (table.columns.empty()) return;
    const bool titled = std::any_of(table.columns.begin(), table.columns.end(),
                                    [](const Column& column) { return !column.title.empty(); });
    if (titled)
      write_row([&](std::size_t c) { return table.columns[c].title; }, [](std::size_t) { return "\033[4m"; });
    for (const auto& row : table.rows)
      write_row([&](std::size_t c) { return row[c].text; }, [&](std::size_t c) { return code_of(row[c].tone); });
  }
};

}  // namespace draftproof::writers
