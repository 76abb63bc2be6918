// Figures of a page; each is one file in report/figures/, registered by the build. A figure takes any document and
// draws what its data has.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <draftproof/report/page/read.hpp>
#include <draftproof/report/plots/line_plot.hpp>

namespace draftproof::page {

struct Figure {
  std::string caption;
  plots::Picture picture;
  bool wide = false;  ///< over the whole width of the page
};

using FigureMaker = std::function<void(const Json& data, std::vector<Figure>& figures)>;

/// All registered figures, in the order of registration.
std::vector<FigureMaker>& found_figures();

}  // namespace draftproof::page

namespace draftproof {

template <class F>
void register_figure() {
  page::found_figures().push_back(&F::add);
}

}  // namespace draftproof
