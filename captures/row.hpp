// A row is a probability law over V tokens, checked once where it enters the program and normalised there.
// Everything behind this boundary may rely on finite, non-negative entries that sum to 1 up to double
// rounding.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace draftproof {

/// One decision's laws: `target` [V] and, per proposal, a law [V] over the same tokens.
struct RowPair {
  std::vector<double> target;
  std::vector<std::vector<double>> proposals;
};

/// Names the row in an error message.
struct RowPlace {
  std::string file;
  std::string array;
  std::size_t row = 0;
};

/// Largest |sum - 1| of a row of stored probabilities.
///
/// Rounding a probability to float32 moves it by at most 2^-24 of itself (below 2^-126 by at most 2^-150), so
/// the sum of a row of V = 262144 moves by at most 2^-24 + V 2^-150 < 6.0e-8, whatever V is. The other 94 %
/// of the tolerance is for the normalisation of whoever wrote the row; a float32 softmax with pairwise sums
/// errs by about 2^-24 log2(V) in the worst case, a few 2^-24 in practice. A lost or doubled token of
/// probability 1e-6 is still seen.
inline constexpr double probability_sum_tolerance = 1e-6;

/// Largest |sum - 1| of the exponentials of a row of stored log-probabilities, and how far above 0 one may
/// lie.
///
/// Rounding l to float32 moves it by at most 2^-24 |l|, hence the sum by at most 2^-24 H, with entropy
/// H <= ln V < 12.5 at V = 262144: 7.5e-7. The writer subtracted a logarithm of a sum, computed in float32
/// from logits of magnitude up to about 100: another 2^-24 * 100 = 6.0e-6, the same for all tokens. Together
/// below 1e-5.
inline constexpr double log_probability_sum_tolerance = 1e-5;

/// The row divided by its compensated sum. Throws InputError, naming row and token, on a NaN, an infinity, a
/// negative entry, or a sum further than `tolerance` from 1.
std::vector<double> check_row(std::span<const double> row, const RowPlace& place,
                              double tolerance = probability_sum_tolerance);

/// Divides `weights` (finite, non-negative, not all zero) by their compensated sum.
void normalise(std::vector<double>& weights);

}  // namespace draftproof
