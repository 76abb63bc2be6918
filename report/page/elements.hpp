// The parts of a page below its plots: tables, verdicts, counterexamples, and the style.
#pragma once

#include <string>
#include <vector>

#include <draftproof/report/document.hpp>
#include <draftproof/report/page/verdicts.hpp>

namespace draftproof::page {

/// The style of the whole page, plots included.
std::string page_style();

/// A table that scrolls inside its own frame where it is wider than the page.
std::string table_html(const Table& table);

/// `content` under a summary that opens it.
std::string folded(const std::string& summary, const std::string& content);

/// A verdict with a sign beside its colour.
Cell verdict_cell_of(const std::string& text, Grade grade);

/// A counterexample as worked tables, with evidence and the line that shows it again.
std::string example_html(const Counterexample& example);

/// The counterexamples: unexpected ones open, those of mutants and lossy schemes folded. Empty without any.
std::string examples_html(const std::vector<Counterexample>& examples);

}  // namespace draftproof::page
