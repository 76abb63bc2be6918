// The table of measurements of a document as JSON Lines: one object a row.
#pragma once

#include <draftproof/report/page/records.hpp>
#include <draftproof/report/register_writer.hpp>

namespace draftproof::writers {

struct Jsonl {
  static constexpr std::string_view name = "jsonl";
  static constexpr std::string_view about = "the table of measurements, one JSON object a line";

  static void write(const Document& document, std::ostream& out, const WriterOptions&) {
    for (const page::Json& row : page::main_records(document.data).rows) out << row.dump() << '\n';
  }
};

}  // namespace draftproof::writers
