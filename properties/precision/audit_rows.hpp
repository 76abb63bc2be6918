// Rows that the precision audit runs on: Zipf-like laws in shuffled order, small enough in what can be drafted for a
// walk, and laws on which floating point has a special case.
//
//   dense       p and q over V tokens
//   scattered   p and q over a few tokens far apart in arrays of V
//   whole       p over V tokens, q over a few of them, the most probable one among these
//   edge        denormals, equal rows, rows an ulp apart, a residual below V ulp, sums an ulp off 1
//
// Every maker takes the number of proposals: one, or one for each draft.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <draftproof/captures/row.hpp>

namespace draftproof {

RowPair dense_rows(int vocabulary, int proposals, std::uint64_t seed);
RowPair scattered_rows(int vocabulary, int support, int proposals, std::uint64_t seed);
RowPair whole_rows(int vocabulary, int support, int proposals, std::uint64_t seed);

struct EdgeRows {
  std::string_view name;
  RowPair rows;
};
std::vector<EdgeRows> edge_rows(int proposals);

}  // namespace draftproof
