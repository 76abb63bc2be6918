// One row of a batch whose other rows stay as they are, explored like a program of its own, and its distribution held to
// the one that the row has alone. What neighbours may change is the order in which a row takes its numbers, as coins for
// padding or for finished rows do, and the last bits of sums; the two distributions are then the same up to rounding.
//
// Correctness: rows of a right program are independent, so given all inputs and numbers of the neighbours a row has its
// distribution alone. Neither log is compared, so no right program is accused for the order of its draws. Each
// distribution that is found departs from the one of exact arithmetic by at most ProgramLaw::limit + rounding_limit(), in
// total variation; two that agree there differ by at most the sum. Entries of a state are off as rows are. Where
// Declaration::batch_invariant promises equal bits, both trees are equal, and what is left is that a probability is a
// compensated sum of products of at most n shares: (n + 1) 2^-53 of it.
// Not judged: a program whose distribution is not found by calls in the limits (`open`), as a loop that is cut.
// Not excluded: neighbours that matter and were not among the rows, a stretch of numbers that no call met (explore.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <draftproof/doors/declaration.hpp>
#include <draftproof/doors/program.hpp>

namespace draftproof::doors {

/// A program that runs its calls one at a time, each as the row `slot` of a batch with `others`, which stay; alone without.
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
      program_.run(inputs_, calls_, answers);
      runs[i] = std::move(answers[slot_]);
    }
  }

 private:
  Program& program_;
  std::vector<Input> inputs_;
  std::vector<Call> calls_;
  std::size_t slot_;
};

/// What the neighbours of a row do to its distribution.
struct Shift {
  enum class Kind { none, beyond, open } kind = Kind::none;  ///< beyond: more than rounding
  std::string text{};                                        ///< beyond, open: in words
  std::uint64_t rows = 0;                                    ///< run for it
};

/// Compares row `slot` of the batch `calls` with the row alone. Throws: DoorError if the program is lost.
Shift shift_among(Program& program, const Declaration& declaration, const std::vector<Input>& inputs,
                  const std::vector<Call>& calls, std::size_t slot, std::uint64_t seed);

}  // namespace draftproof::doors
