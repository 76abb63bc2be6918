// The page of results: one file of HTML with plots and the data itself. It needs no script, no network and no other
// file. A page depends only on the data, so stored data give the same page as their run. A comparison of two results
// is a result too: changed verdicts first, then changes of acceptance beyond both intervals, then of cost beyond
// noise.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <draftproof/cli/report/document.hpp>
#include <draftproof/cli/report/page/data.hpp>

namespace draftproof::page {

/// Returns the page. Cost: linear in the data; 40 schemes, 3 sources and 3 numbers of drafts take less than 1.5 MB.
std::string html_page(const Json& data);

/// Returns the tables that the page shows as its answers, for the other writers.
std::vector<Section> sections_of_results(const Json& data);

/// A benchmark whose times of two runs differ by more than their repetitions explain.
struct CostChange {
  std::string name, before, after;
  bool slower = false;
};

using CostComparison = std::function<std::vector<CostChange>(const Json& before, const Json& after)>;

/// Returns the functions that compare costs. The library of benchmarks adds one.
std::vector<CostComparison>& found_cost_comparisons();

struct Comparison {
  Document document;  ///< schema draftproof.report.compare/1
  int worse = 0;      ///< verdicts that got worse
  int gone = 0;       ///< verdicts and rates that only the old result has, so it is unknown whether they still hold
};

/// Compares all results in `before` with all in `after`. Throws: InputError for a result without verdicts, rates of
/// surveys and benchmarks.
Comparison compare(const Result& before, const Result& after);

/// Returns the tables of data of schema draftproof.report.compare/1.
std::vector<Section> sections_of_comparison(const Json& data);

/// A table to check a counterexample by hand: for each token p, q, the output probability and the expected
/// probability, in fractions.
struct WorkedTable {
  std::string caption;  ///< for example "K = 2", and for paths the context of the rows
  Table table;
};

/// Returns a table for each pair of rows in the text of the instance; none for an instance of another form. A table has
/// columns for the outcome if the evidence reads "got (..), expected (..)" with one entry for each token.
std::vector<WorkedTable> worked_tables(const Counterexample& example);

// The parts of a page below its plots.

/// Returns the style of the whole page, plots included.
std::string page_style();
/// Returns a table that scrolls inside its own frame where it is wider than the page.
std::string table_html(const Table& table);
/// Returns `content` folded under a summary that opens it.
std::string folded(const std::string& summary, const std::string& content);
/// Returns a counterexample as worked tables, with its evidence and the command that replays it.
std::string example_html(const Counterexample& example);
/// Returns all counterexamples: unexpected ones open, counterexamples of mutants and lossy schemes folded. Empty if
/// there are none.
std::string examples_html(const std::vector<Counterexample>& examples);

}  // namespace draftproof::page
