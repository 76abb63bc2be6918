// The random source of simulation: Philox counters addressed by (seed, trial, purpose, index). The noise that a
// drafter and a verifier share has purposes that no role uses.
#pragma once

#include <cstddef>
#include <cstdint>

#include <draftproof/sim/random/philox4x32.hpp>
#include <draftproof/sim/random/philox_simd.hpp>
#include <draftproof/sim/random/uniform_source.hpp>

namespace draftproof {

/// One trial's randomness for one role. Draw n of a purpose is one half of the block at slot n / 2, so any draw of
/// any trial can be recomputed alone.
class Philox : public UniformSource<Philox> {
 public:
  /// The program that reads the numbers: drafting and verifying never read the same counter.
  enum class Role : std::uint32_t { draft = 0, verify = 1 };

  DRAFTPROOF_DEVICE constexpr Philox(std::uint64_t seed, std::uint64_t trial, Role role)
      : seed_{seed}, trial_{trial}, role_{static_cast<std::uint32_t>(role)} {}

  /// Returns the next 64 random bits of a purpose.
  DRAFTPROOF_DEVICE constexpr std::uint64_t next(Purpose purpose) {
    const std::uint32_t address = (role_ << 8) | static_cast<std::uint32_t>(purpose);
    const std::uint32_t index = index_[static_cast<std::uint32_t>(purpose) & 7]++;
    const std::uint32_t slot = index >> 1;
    if (address != cached_address_ || slot != cached_slot_) {
      cached_ = philox_pair(seed_, trial_, slot, address);
      cached_address_ = address;
      cached_slot_ = slot;
    }
    return (index & 1) ? cached_.second : cached_.first;
  }

  /// Returns block `block` of a stream of noise, which is the same for both roles. Requires: `stream` < 2^24.
  DRAFTPROOF_DEVICE constexpr NoiseBlock noise(std::uint32_t stream, std::uint32_t block) const {
    const PhiloxPair words = philox_pair(seed_, trial_, block, noise_purpose | stream);
    return {words.first, words.second};
  }
  /// Writes the quarters (random_source.hpp) of blocks `first` .. `first + count - 1`, 4 `count` integers of 32 bits.
  void noise_quarters(std::uint32_t stream, std::uint32_t first, std::size_t count, std::uint32_t* out) const {
    philox_words({seed_, trial_, first, noise_purpose | stream}, count, out);
  }

  /// Streams of noise are the purposes from this number on, greater than the purposes of roles (role << 8 | purpose)
  /// and less than the purposes in captures/family.hpp.
  static constexpr std::uint32_t noise_purpose = 0x5A000000;

 private:
  std::uint64_t seed_, trial_;
  std::uint32_t role_;
  std::uint32_t index_[8] = {};
  std::uint32_t cached_address_ = ~std::uint32_t{0}, cached_slot_ = 0;
  PhiloxPair cached_{};
};

// The trials of a seed are numbered so that no two positions share a trial.

/// Returns the number of the first trial of a position. A position has 2^40 trials, and a seed 2^24 positions.
constexpr std::uint64_t first_trial(std::size_t position) { return std::uint64_t{position} << 40; }

}  // namespace draftproof
