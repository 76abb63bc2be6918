// The data of a document, indented. The bytes depend on the seed and not on the machine or the number of threads.
#pragma once

#include <draftproof/report/register_writer.hpp>

namespace draftproof::writers {

struct Json {
  static constexpr std::string_view name = "json";
  static constexpr std::string_view about = "the versioned schema for machines";

  static void write(const Document& document, std::ostream& out, const WriterOptions&) {
    out << document.data.dump(2) << '\n';
  }
};

}  // namespace draftproof::writers
