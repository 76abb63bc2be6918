// Rows of logits for tests; each shape is a case in which softmax could differ.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <draftproof/sim/random/philox4x32.hpp>
#include <draftproof/sim/random/uniform_source.hpp>

namespace draftproof::parity {

enum class LogitShape { spread, ties, masked_half, masked_blocks, one_token, huge, steep, end };

/// Returns `size` logits in the format of Entry, which depend only on shape and row.
template <class Entry>
std::vector<Entry> logit_row(LogitShape shape, int size, std::uint64_t row) {
  constexpr double masked = -std::numeric_limits<double>::infinity();
  std::vector<Entry> logits;
  for (int x = 0; x < size; ++x) {
    const PhiloxPair word = philox_pair(row, static_cast<std::uint64_t>(shape), static_cast<std::uint32_t>(x), 3);
    const double u = unit_interval(word.first), v = unit_interval(word.second);
    double logit = 8 * (u + v - 1);
    switch (shape) {
      case LogitShape::ties:
        logit = std::floor(3 * u);
        break;
      case LogitShape::masked_half:
        if (v < 0.5 && x + 1 < size) logit = masked;
        break;
      case LogitShape::masked_blocks:  // all tokens of the softmax's first block are masked
        if (x < 1024 && x + 1 < size) logit = masked;
        break;
      case LogitShape::one_token:
        if (x != static_cast<int>(row) % size) logit = masked;
        break;
      case LogitShape::huge:
        logit = 60000 * (2 * u - 1);
        break;
      case LogitShape::steep:
        logit = -90 * u - x * 0.01;
        break;
      default:
        break;
    }
    logits.emplace_back(static_cast<Entry>(logit));
  }
  return logits;
}

}  // namespace draftproof::parity
