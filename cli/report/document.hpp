// A result in two forms: machine-readable data with a versioned schema, and sections for readers. Writers render
// either.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace draftproof {

/// Emphasis of a cell where colour is available; the text alone must say the same.
enum class Tone { plain, good, bad, faint };

struct Cell {
  std::string text;
  Tone tone = Tone::plain;
};

struct Column {
  std::string title;
  bool numeric = false;  ///< right-aligned
};

/// A row of a result, written once: each entry is a member of the data, a cell of the table, or both.
struct ResultRow {
  nlohmann::ordered_json record = nlohmann::ordered_json::object();
  std::vector<Column> columns{};
  std::vector<Cell> cells{};

  /// Adds a member to the data only. This function and the following ones return the row.
  ResultRow& data(const char* key, nlohmann::ordered_json value);
  /// Adds a cell to the table only, at the left or (`number`) at the right of its column.
  ResultRow& cell(std::string title, Cell cell);
  ResultRow& number(std::string title, Cell cell);
  /// Adds a member and a cell: a text, a whole number with separators, or a real number with `digits` decimals. A
  /// number that is not known is null in the data and "-" in the table.
  ResultRow& text(const char* key, std::string title, Cell cell);
  ResultRow& count(const char* key, std::string title, std::uint64_t value);
  ResultRow& fixed(const char* key, std::string title, std::optional<double> value, int digits);
};

struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  ///< Each row has one cell per column.

  /// Adds the cells of a row. The first row sets the columns of a table that has none.
  void add(ResultRow row);
  /// Adds the record of `row` to `records` and the cells of `row` to the table.
  void add(nlohmann::ordered_json& records, ResultRow row);
};

struct Section {
  std::string title;
  std::vector<std::string> before{};  ///< lines above the table
  Table table{};                      ///< A table without columns is not shown.
  std::vector<std::string> after{};   ///< lines below the table
};

struct Document {
  nlohmann::ordered_json data;  ///< The first member is "schema": "draftproof.<command>/<version>".
  std::vector<Section> sections;
};

}  // namespace draftproof
