// The edge tier of a foreign program: rows of a batch do not disturb each other, and equal calls have equal results. The
// checks compare runs with runs on scripted numbers; they need no law.
//
//   check           compares the runs of a full batch with
//   row_alone       each row in a batch of its own
//   slots_permuted  the same rows in another order
//   neighbours      the same row among rows with other inputs, of other lengths if the program takes ragged batches
//   repetition      the same batch again, after the others
//   number_grid     nothing: uniforms are multiples of 2^-23 or finer, what float32 gives
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
