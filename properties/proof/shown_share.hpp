// The share of generated instances that show a mutant: how much of its finding depends on the seed.
//
// Correctness: a mutant that one instance in ten shows escapes 240 instances with probability 1e-11, and a set of 20
// seeds that has it missed by none.
#pragma once

#include <tuple>

namespace draftproof {

struct ShownShare {
  static constexpr int least_in = 10;  ///< at least one instance in this many must show a mutant

  int shown = 0, asked = 0;

  static auto fields(auto& share) { return std::tie(share.shown, share.asked); }
  /// Whether enough instances show it; true where none was asked.
  bool enough() const { return least_in * shown >= asked; }
};

}  // namespace draftproof
