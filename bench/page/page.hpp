// The page of figures: a run rendered as Markdown with plots beside it. Every number on it comes from the results,
// every sentence from here.
#pragma once

#include <string>
#include <vector>

#include <draftproof/bench/page/figures.hpp>

namespace draftproof::benchmarks {

/// Whether a run for the page takes this benchmark: everything that is compared or is a goal's side; of what exists
/// for every scheme, the schemes a reader asks for first.
bool on_page(const std::string& plain_name, const std::vector<Goal>& goals);

/// `folder` is where the page finds its plots.
std::string page_text(const Results& results, const std::vector<Figure>& figures, const std::string& folder);

/// Writes `file` and its plots into the folder of the same name without extension. Throws InputError if it cannot.
void write_page(const Results& results, const std::string& file);

}  // namespace draftproof::benchmarks
