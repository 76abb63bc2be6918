// A row is a probability distribution over V tokens, checked and normalised once on input. Code behind this boundary
// may rely on finite, non-negative entries that sum to 1 up to double rounding.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace draftproof {

/// The distributions of one position: `target` [V] and for each proposal a distribution [V] over the same tokens.
struct RowPair {
  std::vector<double> target;
  std::vector<std::vector<double>> proposals;
};

/// The location of a row, for error messages.
struct RowPlace {
  std::string file;
  std::string array;
  std::size_t row = 0;
};

/// Largest |sum - 1| of a row of stored probabilities.
///
/// Rounding a probability to float32 moves it by at most 2^-24 of itself (below 2^-126 by at most 2^-150), so the sum
/// of a row of V = 262144 moves by at most 2^-24 + V 2^-150 < 6.0e-8, for any V. The other 94 % of the tolerance is
/// for the writer's normalisation: a float32 softmax with pairwise sums errs by about 2^-24 log2(V) in the worst
/// case, a few 2^-24 in practice. A lost or doubled token of probability 1e-6 is still detected.
inline constexpr double probability_sum_tolerance = 1e-6;

/// Largest |sum - 1| of the exponentials of a row of stored log-probabilities, and the largest positive entry.
///
/// Rounding l to float32 moves it by at most 2^-24 |l|, hence the sum by at most 2^-24 H, with entropy
/// H <= ln V < 12.5 at V = 262144: 7.5e-7. The writer subtracted the logarithm of a sum, computed in float32 from
/// logits of magnitude up to about 100: another 2^-24 * 100 = 6.0e-6, equal for all tokens. The two errors are together
/// below 1e-5.
inline constexpr double log_probability_sum_tolerance = 1e-5;

/// Returns the row divided by its compensated sum. Throws: InputError, with row and token, on a NaN, an infinity, a
/// negative entry, or a sum further than `tolerance` from 1.
std::vector<double> check_row(std::span<const double> row, const RowPlace& place,
                              double tolerance = probability_sum_tolerance);

/// Divides `weights` (finite, non-negative, not all zero) by their compensated sum.
void normalise(std::vector<double>& weights);

}  // namespace draftproof
