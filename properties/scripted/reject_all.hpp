// A source of coins that refuses every draft, which no pair of distributions does for sure: what a scheme reads, and
// what it costs, when nothing is accepted.
#pragma once

#include <cstdint>

#include <draftproof/sim/verifier.hpp>

namespace draftproof {

struct RefusesAll {
  std::uint64_t word;  ///< what tokens are drawn with
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
