// Writers of documents; each is one file in report/writers/, registered by the build and selected by --format.
#pragma once

#include <functional>
#include <ostream>
#include <string_view>
#include <vector>

#include <draftproof/report/document.hpp>

namespace draftproof {

struct WriterOptions {
  bool colour = false;
  std::size_t width = 0;  ///< columns of the terminal; 0: no terminal, lines of any length
};

struct Writer {
  std::string_view name;
  std::string_view about;
  std::function<void(const Document&, std::ostream&, const WriterOptions&)> write;
};

/// All registered writers, in the order of registration.
std::vector<Writer>& found_writers();

template <class W>
void register_writer() {
  found_writers().push_back({W::name, W::about, &W::write});
}

}  // namespace draftproof
