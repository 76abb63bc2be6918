// The page of results: one file of HTML with plots and the data itself. It needs no script, no network and no other
// file. A page is a function of the data alone, so stored data gives the page of its run.
//
// The data lies in a block of JSON in which every "<" is written "\u003c": no text in it ends the block.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <draftproof/report/document.hpp>
#include <draftproof/report/page/read.hpp>

namespace draftproof::page {

struct Result {
  std::string name;  ///< of the file it came from; empty for a run
  Json data;
};

/// One result as it is; several as one object of schema draftproof.report/1, which is a result too.
Json joined(std::vector<Result> results);

/// The results in `data`: those that `joined` put there, else `data` itself.
std::vector<Result> results_in(const Json& data);

/// The answers of the page as tables, for the other writers.
std::vector<Section> sections_of_results(const Json& data);

/// The page. Cost: linear in the data; 40 schemes, 3 sources and 3 numbers of drafts take less than 1.5 MB.
std::string html_page(const Json& data);

/// The text of the data block of a page; empty if `text` is no page of ours.
std::optional<std::string_view> data_block(std::string_view text);

}  // namespace draftproof::page
