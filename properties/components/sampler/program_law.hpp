// The exact law of a sampler's program, counted in words, independent of the formats of its sums and uniforms.
//
//   piece    interval of words with one token
//   TV       half the sum of |share of words - weight|
//
// Cost: the number of the sampler's pieces.
//
// Correctness: words are uniform on 0 .. 2^64 - 1 and a piece's share is its length; the sum over V shares is off by
// at most V 2^-53.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include <draftproof/properties/components/sampler/sampler_group.hpp>
#include <draftproof/sim/components/target_filters.hpp>

namespace draftproof {

/// Share of all words in piece n.
inline double share_of(const std::vector<WordPiece>& pieces, std::size_t n) {
  if (pieces.size() == 1) return 1;
  const std::uint64_t end = n + 1 < pieces.size() ? pieces[n + 1].first : 0;  // 2^64 wraps to 0
  return static_cast<double>(end - pieces[n].first) * 0x1p-64;
}

/// Total variation between the law of the pieces and the weights; mass on ids outside the row counts in full.
inline double program_distance(const std::vector<WordPiece>& pieces, const std::vector<double>& row) {
  std::vector<double> excess = normalised_row(row);
  for (double& mass : excess) mass = -mass;
  double outside = 0;
  for (std::size_t n = 0; n < pieces.size(); ++n) {
    const auto x = static_cast<std::size_t>(pieces[n].token);
    (pieces[n].token >= 0 && x < excess.size() ? excess[x] : outside) += share_of(pieces, n);
  }
  double sum = outside;
  for (const double mass : excess) sum += std::fabs(mass);
  return sum / 2;
}

}  // namespace draftproof
