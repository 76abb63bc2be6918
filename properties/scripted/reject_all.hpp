// A source of flips that rejects every draft; no pair of laws does so with certainty. It measures the reads and the
// cost of a scheme when nothing is accepted.
#pragma once

#include <cstdint>

#include <draftproof/sim/verifier.hpp>

namespace draftproof {

struct RefusesAll {
  std::uint64_t word;  ///< word with which tokens are drawn
  bool flip(double, double) const { return false; }
  template <class W>
  Token pick(const W& weights) const {
    return weights.draw(word);
  }
  template <class W>
  Verdict emit(const W& weights) const {
    return {weights.draw(word), none_accepted};
  }
};

}  // namespace draftproof
