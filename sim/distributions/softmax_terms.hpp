// The terms of softmax: what one power, one block and one row contribute, in operations that have the same bits on a
// host and on a device. softmax.hpp and gpu/teams/team_softmax.cuh put them together.
//
//   e     power      exp_nonpositive, in [0, 1]                         float
//   S     sum        powers of a block                             units of 2^-46, at most 2^56
//   w     weight     what the powers of the block are worth        float, in [0, 1]
//   Z     units      sum over blocks of w S                        units of 2^-40, at most 2^62 for V <= 2^22
//
// Cost: seven operations a power, a division a block. A power is split without conversions: h = 1 + e rounds to a
// multiple of 2^-23 within [1, 2], where the bits of a float count in just that unit; l = e - (h - 1) is exact, at
// most 2^-24, and 1.5 + 2^23 l rounds it to 2^-46 in the same way. Adding bits then adds numbers, in any order.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include <draftproof/sim/device/host_device.hpp>

namespace draftproof {

/// Logits of a block; 2^12 would overflow lanes of 32 bits in wide registers.
inline constexpr int softmax_block_size = 1024;

inline constexpr float least_normal_float = std::numeric_limits<float>::min();

/// e in units of 2^-46.
DRAFTPROOF_DEVICE inline std::uint64_t units_of_power(float power) {
  const float split = 1 + power, rest = power - (split - 1);
  const auto coarse = std::uint64_t{bit_cast<std::uint32_t>(split) - bit_cast<std::uint32_t>(1.0f)};
  const auto fine = std::uint64_t{bit_cast<std::uint32_t>(std::fma(rest, 0x1p23f, 1.5f))};
  return (coarse << 23) + fine - bit_cast<std::uint32_t>(1.5f);
}

/// w S in units of 2^-40, truncated.
DRAFTPROOF_DEVICE inline std::uint64_t units_of_block(std::uint64_t sum, float weight) {
  return static_cast<std::uint64_t>(static_cast<double>(sum) * 0x1p-46 * static_cast<double>(weight) * 0x1p40);
}

/// w / Z.
DRAFTPROOF_DEVICE inline float factor_of_block(float weight, std::uint64_t units) {
  return static_cast<float>(static_cast<double>(weight) / (static_cast<double>(units) * 0x1p-40));
}

/// Powers below this have probability 0: their products with the factor would not be normal floats.
DRAFTPROOF_DEVICE inline float least_power_served(float factor) {
  // A power is at most 1; no factor below the least normal float leaves anything.
  return factor >= least_normal_float ? least_normal_float / factor : 2;
}

}  // namespace draftproof
