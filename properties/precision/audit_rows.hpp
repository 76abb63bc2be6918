// Rows for the precision audit: Zipf-like laws in shuffled order with a support of q that a walk can cover, and laws
// with a special case of floating point.
//
//   dense       p and q over V tokens
//   scattered   p and q over a few tokens far apart in arrays of V
//   whole       p over V tokens, q over a few of them, including the most probable one
//   edge        denormals, equal rows, rows an ulp apart, a residual below V ulp, sums an ulp off 1
//
// Every function takes the number of proposals: one, or one for each draft.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <draftproof/captures/row.hpp>

namespace draftproof {

/// p and q over all tokens.
RowPair dense_rows(int vocabulary, int proposals, std::uint64_t seed);
/// p and q over `support` tokens.
RowPair scattered_rows(int vocabulary, int support, int proposals, std::uint64_t seed);
/// p over all tokens, q over `support` tokens.
RowPair whole_rows(int vocabulary, int support, int proposals, std::uint64_t seed);

struct EdgeRows {
  std::string_view name;
  RowPair rows;
};
/// All pairs with a special case.
std::vector<EdgeRows> edge_rows(int proposals);

}  // namespace draftproof
