// The tape of one row, from which a program draws: each draw takes the next places of the tape, converts their values
// by the table in program.hpp, and is logged.
//
//   place      one number of the tape       a race of n takes n places, every other draw takes one place
//   grid       a uniform value is rounded down to a multiple of 2^-bits; the program gets only such multiples
//
// A draw may fail because the tape is at its end, the weights have no mass, or a forced value is out of range. The
// program cannot be stopped at that draw, so it gets some value in range, and the row's status becomes verdict().
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <draftproof/adapters/program.hpp>

namespace draftproof::adapters {

class RowTape {
 public:
  RowTape() = default;
  /// `values` must outlive the tape.
  explicit RowTape(std::span<const double> values) : values_{values} {}

  /// Returns a multiple of 2^-bits in [0, 1); 0 for a forced value (v < 0) and at the end of the tape.
  double coin(int bits, std::string_view stream);
  /// Returns the cell drawn, 0 .. size - 1; -1 without mass. At the end of the tape returns the first cell of positive
  /// weight.
  int pick(std::span<const double> weights, std::string_view stream);
  /// Writes out.size() exponential variates of rate 1 to `out`; 1 for entries beyond the end of the tape.
  void race(std::span<double> out, std::string_view stream);
  /// Returns an integer in 0 .. n - 1; 0 at the end of the tape.
  int integer(int n, std::string_view stream);

  /// ok, or the first error: failed, no_mass or tape_short.
  RowStatus verdict() const { return verdict_; }
  /// Describes the first error; empty if there was none.
  const std::string& message() const { return message_; }
  /// The draws that used a number of the tape, in order.
  const std::vector<Draw>& draws() const { return draws_; }

 private:
  /// Returns the next value; at the end of the tape sets the verdict to tape_short and returns null.
  const double* next();
  void fault(RowStatus status, std::string message);
  bool valid(double value, const char* kind);

  std::span<const double> values_{};
  std::size_t taken_ = 0;
  std::vector<Draw> draws_;
  RowStatus verdict_ = RowStatus::ok;
  std::string message_;
};

}  // namespace draftproof::adapters
