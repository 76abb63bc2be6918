// The page of figures: a run rendered as Markdown with plots beside it. Every number comes from the results; the text
// comes from the code.
#pragma once

#include <string>
#include <vector>

#include <draftproof/bench/page/figures.hpp>

namespace draftproof::benchmarks {

/// Returns whether a run for the page includes this benchmark: every benchmark of a comparison and both sides of a
/// goal; of benchmarks that exist for every scheme, those of a selection of schemes.
bool on_page(const std::string& plain_name, const std::vector<Goal>& goals);

/// Returns the page as Markdown; `folder` is the path of its plots as the page names it.
std::string page_text(const Results& results, const std::vector<Figure>& figures, const std::string& folder);

/// Writes `file`, and its plots into the folder of the same name without extension.
/// Throws: InputError if a file cannot be written.
void write_page(const Results& results, const std::string& file);

}  // namespace draftproof::benchmarks
