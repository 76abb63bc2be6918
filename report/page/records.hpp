// Stored data as flat tables, for those who plot themselves: every list of objects in the data is a table.
//
// A member of a nested object becomes a column "flag.rate". The rows of a list inside a list, for example the rows of a
// source, carry the names of what they lie in.
#pragma once

#include <string>
#include <vector>

#include <draftproof/report/page/read.hpp>

namespace draftproof::page {

struct Records {
  std::string name;                  ///< "sources.rows"
  std::vector<std::string> columns;  ///< of all rows, in the order of their first appearance
  std::vector<Json> rows;            ///< flat objects; lists of numbers or texts stay lists
};

/// The tables in the order of the data.
std::vector<Records> records_in(const Json& data);

/// The table of measurements: the rows of the sources of a survey, else the first table. Empty without tables.
Records main_records(const Json& data);

}  // namespace draftproof::page
