// Writers of the data of a document.
#pragma once

#include <draftproof/report/page/page.hpp>
#include <draftproof/report/page/records.hpp>
#include <draftproof/report/register_writer.hpp>

namespace draftproof::writers {

// The table of measurements of a document as comma-separated values, after RFC 4180.
struct Csv {
  static constexpr std::string_view name = "csv";
  static constexpr std::string_view about = "the table of measurements, for those who plot themselves";

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
  /// Numbers with all their digits; the elements of a list apart by spaces.
  static std::string field(const page::Json& value) {
    if (value.is_null()) return "";
    if (value.is_string()) return quoted(value.get<std::string>());
    if (!value.is_array()) return value.dump();
    std::string text;
    for (const page::Json& element : value)
      text += (text.empty() ? "" : " ") + (element.is_string() ? element.get<std::string>() : element.dump());
    return quoted(text);
  }

  static std::string quoted(const std::string& text) {
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
  static constexpr std::string_view about = "the versioned schema for machines";

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

}  // namespace draftproof::writers
