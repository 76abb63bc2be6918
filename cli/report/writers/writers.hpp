// The writers of --format: text for people, data for machines, annotations for hosted CI.
#pragma once

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include <draftproof/captures/nearest_names.hpp>
#include <draftproof/cli/report/page/page.hpp>
#include <draftproof/cli/report/registration.hpp>
#include <draftproof/cli/report/text.hpp>

namespace draftproof::writers {

/// Returns the sections with each text on one line, without control characters, because stored results may come from
/// anybody.
inline std::vector<Section> in_lines(std::vector<Section> sections) {
  const auto tidy = [](std::string& text) { text = one_line(text, std::string::npos); };
  for (Section& section : sections) {
    tidy(section.title);
    for (auto* lines : {&section.before, &section.after})
      for (std::string& line : *lines) tidy(line);
    for (Column& column : section.table.columns) tidy(column.title);
    for (auto& row : section.table.rows)
      for (Cell& cell : row) tidy(cell.text);
  }
  return sections;
}

// Aligned text for a terminal; the default writer.
struct Table {
  static constexpr std::string_view name = "table";
  static constexpr std::string_view about = "aligned text for people";

  static void write(const Document& document, std::ostream& out, const WriterOptions& options) {
    bool first = true;
    for (const Section& section : in_lines(document.sections)) {
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
    return tone == Tone::good ? "\033[32m" : tone == Tone::bad ? "\033[31m" : tone == Tone::faint ? "\033[2m" : "";
  }

  /// Narrows the widest columns of text until a line fits, but not below `narrowest`.
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
    if (table.columns.empty()) return;
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
    if (std::any_of(table.columns.begin(), table.columns.end(),
                    [](const Column& column) { return !column.title.empty(); }))
      write_row([&](std::size_t c) { return table.columns[c].title; }, [](std::size_t) { return "\033[4m"; });
    for (const auto& row : table.rows)
      write_row([&](std::size_t c) { return row[c].text; }, [&](std::size_t c) { return code_of(row[c].tone); });
  }
};

// Tables for a pull request or a page of documentation.
struct Markdown {
  static constexpr std::string_view name = "markdown";
  static constexpr std::string_view about = "tables for a pull request or a page";

  static void write(const Document& document, std::ostream& out, const WriterOptions&) {
    for (const Section& section : in_lines(document.sections)) {
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
      const auto start = line.find_first_not_of(' ');  // in Markdown, four leading spaces make a block of code
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

// The table of measurements of a document as comma-separated values, after RFC 4180.
struct Csv {
  static constexpr std::string_view name = "csv";
  static constexpr std::string_view about = "the table of measurements as comma-separated values";

  static void write(const Document& document, std::ostream& out, const WriterOptions&) {
    const page::Records table = page::main_records(document.data);
    for (std::size_t c = 0; c < table.columns.size(); ++c) out << (c == 0 ? "" : ",") << quoted(table.columns[c]);
    if (!table.columns.empty()) out << "\r\n";
    for (const page::Json& row : table.rows) {
      for (std::size_t c = 0; c < table.columns.size(); ++c)
        out << (c == 0 ? "" : ",") << field(page::member(row, table.columns[c].c_str()));
      out << "\r\n";
    }
  }

 private:
  /// Returns a field of a row. Numbers have all their digits; the elements of a list are separated by spaces.
  static std::string field(const page::Json& value) {
    if (value.is_null()) return "";
    if (value.is_string()) return quoted(value.get<std::string>());
    if (!value.is_array()) return value.dump();
    std::string text;
    for (const page::Json& element : value)
      text += (text.empty() ? "" : " ") + (element.is_string() ? element.get<std::string>() : element.dump());
    return quoted(text);
  }

  static std::string quoted(const std::string& written) {
    const std::string text = one_line(written, written.npos);
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string result = "\"";
    for (const char character : text) result += character == '"' ? std::string("\"\"") : std::string(1, character);
    return result + "\"";
  }
};

// One page with plots that needs no other file; the data is inside.
struct Html {
  static constexpr std::string_view name = "html";
  static constexpr std::string_view about = "one page with plots, to open in a browser; holds its data";

  static void write(const Document& document, std::ostream& out, const WriterOptions&) {
    out << page::html_page(document.data);
  }
};

// The data of a document, indented. The bytes depend on the seed and not on the machine or the number of threads.
struct Json {
  static constexpr std::string_view name = "json";
  static constexpr std::string_view about = "JSON with a versioned schema";

  static void write(const Document& document, std::ostream& out, const WriterOptions&) {
    out << document.data.dump(2) << '\n';
  }
};

// The table of measurements of a document as JSON Lines: one object a row.
struct Jsonl {
  static constexpr std::string_view name = "jsonl";
  static constexpr std::string_view about = "the table of measurements, one JSON object a line";

  static void write(const Document& document, std::ostream& out, const WriterOptions&) {
    for (const page::Json& row : page::main_records(document.data).rows) out << row.dump() << '\n';
  }
};

// Failures as lines that hosted CI services turn into annotations of a change: "::error file=..,title=..::message".
//
// There is a line for every unexpected counterexample, for every other bad verdict, and in a comparison for every
// verdict that got worse. The file of a line is the header of the scheme, if it exists below the working directory.
struct Annotations {
  static constexpr std::string_view name = "annotations";
  static constexpr std::string_view about = "violations as workflow commands of hosted CI, one a line";

  static void write(const Document& document, std::ostream& out, const WriterOptions&) {
    for (const page::Result& result : page::results_in(document.data)) {
      if (page::member(result.data, "complete") == false) out << "::warning title=stopped early::results so far\n";
      std::set<std::string> said;
      for (const page::Counterexample& example : page::counterexamples_in(result.data)) {
        if (example.expected) continue;
        said.insert(example.subject + " " + example.where);
        line(example.subject, fmt::format("{} ({}): {} failed", example.subject, example.where, example.property),
             fmt::format("on {}: {}\n{}", example.instance, example.evidence, example.replay), out);
      }
      for (const page::Verdict& verdict : page::verdicts_in(result.data))
        if (verdict.grade == page::Grade::bad && !said.contains(verdict.subject + " " + verdict.where))
          line(verdict.subject, fmt::format("{} ({}): {}", verdict.subject, verdict.where, verdict.text),
               verdict.detail, out);
      if (!page::begins(page::text_of(result.data, "schema"), "draftproof.report.compare/")) continue;
      for (const page::Json* entry : page::objects_in(page::member(result.data, "verdicts")))
        if (page::text_of(*entry, "change") == "worse")
          line(page::text_of(*entry, "subject"),
               fmt::format("{} ({}) got worse", page::text_of(*entry, "subject"), page::text_of(*entry, "where")),
               fmt::format("{} -> {}. {}", page::text_of(*entry, "old"), page::text_of(*entry, "new"),
                           page::text_of(*entry, "counterexample")),
               out);
    }
  }

 private:
  static void line(const std::string& subject, const std::string& title, const std::string& message,
                   std::ostream& out) {
    const std::string file = header_of(subject);
    out << "::error " << (file.empty() ? "" : "file=" + coded(file, true) + ",") << "title=" << coded(title, true)
        << "::" << coded(message, false) << '\n';
  }

  /// Returns the header of a scheme relative to the working directory; "" if it does not exist.
  static std::string header_of(const std::string& subject) {
    if (subject.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") != std::string::npos) return {};
    for (const char* folder : {"", "verifiers/", "verifiers/lossy/", "verifiers/paths/", "verifiers/lossy/paths/",
                               "verifiers/mutants/", "verifiers/mutants/paths/", "verifiers/mutants/drafters/"}) {
      const std::string file = folder + subject + ".hpp";
      std::error_code ignored;
      if (std::filesystem::is_regular_file(file, ignored)) return file;
    }
    return {};
  }

  /// Percent-encodes the characters that workflow commands reserve: % and line ends, and in a property also colon and
  /// comma.
  static std::string coded(const std::string& text, bool property) {
    std::string result;
    for (const char character : text) {
      const bool special = character == '%' || character == '\r' || character == '\n' ||
                           (property && (character == ':' || character == ','));
      if (special)
        result += fmt::format("%{:02X}", static_cast<unsigned char>(character));
      else
        result += character;
    }
    return result;
  }
};

}  // namespace draftproof::writers
