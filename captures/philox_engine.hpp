// A stream of 64-bit random integers at an address (seed, position, stream), with the interface that the
// distributions of Boost.Random take. Boost's algorithms are fixed source code, unlike the standard library's, so an
// address gives the same variates on every platform.
#pragma once

#include <cstdint>
#include <limits>

#include <draftproof/sim/random/philox4x32.hpp>

namespace draftproof {

class PhiloxEngine {
 public:
  using result_type = std::uint64_t;

  /// `stream` < 2^16 separates the random sequences that a family uses at one position.
  PhiloxEngine(std::uint64_t seed, std::uint64_t position, std::uint32_t stream)
      : seed_(seed), position_(position), purpose_(first_purpose + stream) {}

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }

  result_type operator()() {
    half_ = !half_;
    if (!half_) return block_.second;
    block_ = philox_pair(seed_, position_, slot_++, purpose_);
    return block_.first;
  }

 private:
  // The purposes from this number on are used for nothing else, so that a family and the trials on it may share a seed.
  static constexpr std::uint32_t first_purpose = 0xFA000000;

  std::uint64_t seed_, position_;
  std::uint32_t purpose_, slot_ = 0;
  PhiloxPair block_{};
  bool half_ = false;
};

}  // namespace draftproof
