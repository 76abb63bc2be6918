// The edge tier of an external program: rows of a batch do not disturb each other, and equal calls have equal
// results. The checks compare runs with runs on scripted numbers; they need no target.
//
//   check           compares the runs of a full batch with
//   row_alone       each row in a batch of one row
//   slots_permuted  the same rows in another order
//   neighbours      the same row among rows with other inputs, of other lengths if the program takes ragged batches;
//                   the distribution of a short row before and beside a long one; and each row of batches of two or
//                   three rows with its batch of one row
//   repetition      the same batch again, after the others
//   number_grid     nothing: uniforms are multiples of 2^-23 or finer, as in float32
//   answers         nothing: every row has an answer, unless its tape was short
//
// The results of a row may differ in the first three checks without a bug: its draws may come in another order in the
// other batch, or its sums may be rounded differently. So the same batch is run again, which must repeat the
// difference, and then the row's distribution in the batch is compared with its distribution alone. The comment before
// AmongRows below derives how much rounding can explain. A difference beyond this limit fails the check; a smaller one
// becomes a note in the evidence of a passed check. With Declaration::batch_invariant, equal draws with other weights
// or answers fail at once. Each check compares the distributions of one row, if possible of a row whose draws are equal
// in both runs; a row with equal answers and unequal draws gets a note only.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <draftproof/adapters/declaration.hpp>
#include <draftproof/adapters/program.hpp>
#include <draftproof/properties/proof/finding.hpp>

namespace draftproof::adapters {

// One row of a batch whose other rows do not change is explored like a separate program, and its distribution is
// compared with the distribution that the row has alone. Neighbours may change the order in which a row takes its
// random numbers (coins for padding or for finished rows), and the last bits of sums; the two distributions are then
// equal up to rounding.
//
// Correctness: rows of a correct program are independent, so given all inputs and numbers of the neighbours, a row has
// the same distribution as alone. Logs are not compared, so a correct program does not fail because its draws come in
// another order. Each distribution that is found departs from the distribution in exact arithmetic by at most
// ProgramDistribution::limit + rounding_limit(), in total variation. If two programs have the same exact distribution,
// their found distributions differ by at most the sum of their two limits. Entries of a state are rounded like entries
// of rows. If Declaration::batch_invariant promises equal bits, both trees are equal, and the only error is that of
// compensated sums of products of at most n shares, a relative (n + 1) 2^-53. A program whose distribution is not found
// within the limits on calls, for example because a loop is cut off, is not judged (`open`). The check cannot exclude
// an effect of neighbours that were not among the rows, or stretches that no call met (explore.hpp).

/// A program that runs its calls one at a time, each as the row `slot` of a batch with `others`, which do not change;
/// if there are no others, each call runs alone.
class AmongRows final : public Program {
 public:
  explicit AmongRows(Program& program, std::vector<Input> inputs = {}, std::vector<Call> others = {},
                     std::size_t slot = 0)
      : program_(program), inputs_(std::move(inputs)), calls_(std::move(others)), slot_(slot) {
    calls_.insert(calls_.begin() + static_cast<std::ptrdiff_t>(slot), Call{.input = inputs_.size(), .tape = {}});
    inputs_.emplace_back();
  }

  void run(std::span<const Input> inputs, std::span<const Call> calls, std::span<Run> runs) override {
    for (std::size_t i = 0; i < calls.size(); ++i) {
      inputs_.back() = inputs[calls[i].input];
      calls_[slot_].tape = calls[i].tape;
      std::vector<Run> answers(calls_.size());
      program_.run_together(inputs_, calls_, answers);
      runs[i] = std::move(answers[slot_]);
    }
  }

 private:
  Program& program_;
  std::vector<Input> inputs_;
  std::vector<Call> calls_;
  std::size_t slot_;
};

/// The comparison of a row's distribution among neighbours with its distribution alone.
struct Shift {
  enum class Kind { none, beyond, open } kind = Kind::none;  ///< beyond: more than rounding can explain
  std::string text{};                                        ///< description, if beyond or open
  std::uint64_t rows = 0;                                    ///< number of rows run for the comparison
};

/// Compares row `slot` of the batch `calls` with the row alone. Throws: AdapterError if the program is lost.
Shift shift_among(Program& program, const Declaration& declaration, const std::vector<Input>& inputs,
                  const std::vector<Call>& calls, std::size_t slot, std::uint64_t seed);

struct BatchCheckOptions {
  int rows = 64;   ///< number of rows of a batch
  int rounds = 3;  ///< number of batches, whose vocabularies are 2, 3, 4, ..
  std::uint64_t seed = 1;
  std::string adapter{};  ///< text of --adapter, for replay lines
};

std::vector<Finding> check_batches(Program& program, const Declaration& declaration,
                                   const BatchCheckOptions& options);

}  // namespace draftproof::adapters
