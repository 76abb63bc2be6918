// One page with plots that needs no other file; the data is inside.
#pragma once

#include <draftproof/report/page/page.hpp>
#include <draftproof/report/register_writer.hpp>

namespace draftproof::writers {

struct Html {
  static constexpr std::string_view name = "html";
  static constexpr std::string_view about = "one page with plots, to open in a browser; holds its data";

  static void write(const Document& document, std::ostream& out, const WriterOptions&) {
    out << page::html_page(document.data);
  }
};

}  // namespace draftproof::writers
