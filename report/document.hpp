// A result in two forms: machine-readable data with a versioned schema, and sections for readers. Writers render
// either.
#pragma once

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

struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  ///< each with one cell a column
};

struct Section {
  std::string title;
  std::vector<std::string> before{};  ///< lines above the table
  Table table{};                      ///< without columns: no table
  std::vector<std::string> after{};   ///< lines below the table
};

struct Document {
  nlohmann::ordered_json data;  ///< "schema" first: "draftproof.<command>/<version>"
  std::vector<Section> sections;
};

}  // namespace draftproof
