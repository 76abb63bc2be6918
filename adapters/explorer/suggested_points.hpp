// Suggestions computed from a verifier's input: numbers that it is likely to compare a uniform with, and rows whose
// entries are likely weights of a race. The explorer tests these points first, which saves calls; its correctness
// relies on none of them.
//
//   threshold   p / q of a draft, where p is the target or a residual after rejected siblings, and q the proposal
//               with or without the siblings removed; sums of the first entries of a row, normalised
//   row         targets, proposals, residuals (p - q)+
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include <draftproof/adapters/program.hpp>

namespace draftproof::adapters {

class SuggestedPoints {
 public:
  /// `more` are further thresholds from the caller. Entries outside [0, 1] or NaN are ignored. Throws: nothing.
  SuggestedPoints(const Input& input, std::span<const double> more);

  /// Returns floor(t * cells) for each threshold t in (0, 1), sorted and distinct. Requires cells >= 2.
  const std::vector<std::uint64_t>& floors(std::uint64_t cells);
  /// Returns log2(w[b] / w[a]) for each row w of `size` entries that has both weights.
  std::vector<double> log_ratios(int a, int b, int size) const;

 private:
  void add_row(std::vector<double> row);
  void add_siblings(std::vector<double> target, const Input& input, std::span<const std::size_t> drafts);

  std::vector<double> thresholds_;
  std::vector<std::vector<double>> rows_;
  std::map<std::uint64_t, std::vector<std::uint64_t>> floors_;
};

}  // namespace draftproof::adapters
