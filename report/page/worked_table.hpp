// A counterexample as a table to check by hand: p, q, what came out and what should have, token by token, in fractions.
#pragma once

#include <string>
#include <vector>

#include <draftproof/report/document.hpp>
#include <draftproof/report/page/verdicts.hpp>

namespace draftproof::page {

struct WorkedTable {
  std::string caption;  ///< "K = 2", with the context of the rows
  Table table;
};

/// A table for each pair of rows in the text of the instance; none for an instance of another form. Columns of the
/// outcome are there where the evidence reads "got (..), wanted (..)" with one entry a token.
std::vector<WorkedTable> worked_tables(const Counterexample& example);

}  // namespace draftproof::page
