// The edge tier of a foreign program: rows of a batch do not disturb each other, and equal calls have equal results. The
// checks compare runs with runs on scripted numbers; they need no target.
//
//   check           compares the runs of a full batch with
//   row_alone       each row in a batch of its own
//   slots_permuted  the same rows in another order
//   neighbours      the same row among rows with other inputs, of other lengths if the program takes ragged batches;
//                   and the distribution of a short row before and beside a long one
//   repetition      the same batch again, after the others
//   number_grid     nothing: uniforms are multiples of 2^-23 or finer, what float32 gives
//   answers         nothing: every row has an answer, unless its tape was short
//
// A row may differ in the first three and be right: its draws have another order there, or its sums another rounding. So a
// difference is first asked again in the same batch, which must repeat it, and then the distribution of the row there is
// held to the one it has alone (among_rows.hpp, which derives the limit and says what cannot be judged): beyond rounding it
// is a violation, within it a note in the evidence of a check that holds. With Declaration::batch_invariant equal draws
// with other weights or answers are a violation at once. For each check one row is judged so, one whose draws are alike if
// there is one; a row with equal answers and other draws has a note alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <draftproof/doors/declaration.hpp>
#include <draftproof/doors/program.hpp>
#include <draftproof/properties/proof/finding.hpp>

namespace draftproof::doors {

struct BatchCheckOptions {
  int rows = 64;   ///< of a batch
  int rounds = 3;  ///< batches, of vocabularies 2, 3, 4, ..
  std::uint64_t seed = 1;
  std::string door{};  ///< as --door names it, for replay lines
};

std::vector<GateFinding> check_batches(Program& program, const Declaration& declaration,
                                       const BatchCheckOptions& options);

}  // namespace draftproof::doors
