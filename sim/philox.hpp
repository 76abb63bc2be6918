// The random source of simulation: Philox counters addressed by (seed, trial, purpose, index).
#pragma once

#include <cstdint>

#include <draftproof/sim/philox4x32.hpp>
#include <draftproof/sim/uniform_source.hpp>

namespace draftproof {

/// One trial's randomness for one role. The n-th draw of a purpose is half of block n / 2 at slot n / 2, so a
/// source is two words of state and any draw of any trial can be recomputed alone.
class Philox : public UniformSource<Philox> {
 public:
  /// `role` separates programs that share a trial: drafting and verifying never read the same counter.
  enum class Role : std::uint32_t { draft = 0, verify = 1 };

  DRAFTPROOF_DEVICE constexpr Philox(std::uint64_t seed, std::uint64_t trial, Role role)
      : seed_{seed}, trial_{trial}, role_{static_cast<std::uint32_t>(role)} {}

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

 private:
  std::uint64_t seed_, trial_;
  std::uint32_t role_;
  std::uint32_t index_[8] = {};
  std::uint32_t cached_address_ = ~std::uint32_t{0}, cached_slot_ = 0;
  PhiloxPair cached_{};
};

}  // namespace draftproof
