// Writers and figures, which the build finds and registers. A writer is a struct in cli/report/writers/, selected by
// --format. A figure of a page is a struct in cli/report/figures/; it accepts any document and adds no plot if the
// document lacks its data.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <draftproof/cli/report/document.hpp>
#include <draftproof/cli/report/plots/plots.hpp>

namespace draftproof {

struct WriterOptions {
  bool colour = false;
  std::size_t width = 0;  ///< columns of the terminal; 0 if there is none, so that lines may have any length
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

namespace page {

struct Figure {
  std::string caption;
  plots::Picture picture;
  bool wide = false;  ///< whether the figure takes the whole width of the page
};

using FigureMaker = std::function<void(const nlohmann::ordered_json& data, std::vector<Figure>& figures)>;

/// All registered figures, in the order of registration.
std::vector<FigureMaker>& found_figures();

}  // namespace page

template <class F>
void register_figure() {
  page::found_figures().push_back(&F::add);
}

}  // namespace draftproof
