// The tape of one row as a program draws from it: each call takes the next places, turns their values into the
// numbers of the table in program.hpp, and logs the draw.
//
//   place      one number of the tape       a race of n takes n places, every other draw one
//   grid       a coin's value is rounded down to a multiple of 2^-bits: the program cannot see another one
//
// A draw may find no place, no mass or a forced value that it cannot have. The program cannot be stopped there: it
// gets some value of its range, and `verdict` is the status that the row is given in the end.
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

  /// A multiple of 2^-bits in [0, 1). A forced value (v < 0) is no coin's: it counts as 0. 0 without a place.
  double coin(int bits, std::string_view stream);
  /// The cell drawn, 0 .. size - 1; -1 without mass. Without a place: the first cell of positive weight.
  int pick(std::span<const double> weights, std::string_view stream);
  /// out.size() exponential variates of rate 1; ones for the entries without a place.
  void race(std::span<double> out, std::string_view stream);
  /// An integer of 0 .. n - 1; 0 without a place.
  int integer(int n, std::string_view stream);

  /// ok, or the first thing that went wrong: failed, no_mass or tape_short.
  RowStatus verdict() const { return verdict_; }
  /// Says what went wrong; empty if nothing did.
  const std::string& message() const { return message_; }
  /// The draws that took a place, in order.
  const std::vector<Draw>& draws() const { return draws_; }

 private:
  /// The next value, or null: then the row is short.
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
