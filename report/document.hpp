// One result, two forms: data for machines with a versioned schema, sections for people. Writers render either.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace draftproof {

/// How a cell should stand out where colour is available; text alone must say the same.
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
  std::vector<std::vector<Cell>> rows;  ///< as many cells as columns
};

struct Section {
  std::string title;
  std::vector<std::string> before{};  ///< lines above the table
  Table table{};                      ///< no columns: none
  std::vector<std::string> after{};   ///< lines below it
};

struct Document {
  nlohmann::ordered_json data;  ///< "schema" first: "draftproof.<command>/<version>"
  std::vector<Section> sections;
};

}  // namespace draftproof
