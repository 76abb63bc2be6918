// Tables for a pull request or a page of documentation.
#pragma once

#include <draftproof/report/register_writer.hpp>

namespace draftproof::writers {

struct Markdown {
  static constexpr std::string_view name = "markdown";
  static constexpr std::string_view about = "tables for a pull request or a page";

  static void write(const Document& document, std::ostream& out, const WriterOptions&) {
    for (const Section& section : document.sections) {
      if (!section.title.empty()) out << "### " << section.title << "\n\n";
      write_lines(section.before, out);
      if (!section.table.columns.empty()) {
        std::string titles = "|", rule = "|";
        for (const Column& column : section.table.columns) {
          titles += " " + escaped(column.title) + " |";
          rule += column.numeric ? " ---: |" : " --- |";
        }
        out << titles << '\n' << rule << '\n';
        for (const auto& row : section.table.rows) {
          out << '|';
          for (const Cell& cell : row) out << ' ' << escaped(cell.text) << " |";
          out << '\n';
        }
        out << '\n';
      }
      write_lines(section.after, out);
    }
  }

 private:
  static void write_lines(const std::vector<std::string>& lines, std::ostream& out) {
    for (const auto& line : lines) {
      const auto start = line.find_first_not_of(' ');  // four spaces would make a block of code
      out << (start == std::string::npos ? "" : line.substr(start)) << "  \n";
    }
    if (!lines.empty()) out << '\n';
  }
  static std::string escaped(const std::string& text) {
    std::string result;
    for (const char character : text) result += character == '|' ? std::string("\\|") : std::string(1, character);
    return result;
  }
};

}  // namespace draftproof::writers
