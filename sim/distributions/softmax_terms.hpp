// The terms of softmax: the contributions of one power, one block and one row, in operations that give the same bits
// on host and device. softmax.hpp and gpu/teams/team_softmax.cuh combine them.
//
//   e     power      exp_nonpositive, in [0, 1]                   float
//   S     sum        powers of a block                            units of 2^-46, at most 2^56
//   w     weight     weight of the powers of the block            float, in [0, 1]
//   Z     units      sum over blocks of w S                       units of 2^-40, at most 2^62 for V <= 2^22
//
// Cost: seven operations a power, a division a block.
// Correctness: a power becomes an integer without a conversion. h = 1 + e rounds to a multiple of 2^-23 within [1,
// 2], where the bits of a float count in that unit. l = e - (h - 1) is exact and at most 2^-24, and 1.5 + 2^23 l
// rounds it to 2^-46 in the same way. Adding bits then adds numbers, in any order.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include <draftproof/sim/device/host_device.hpp>

namespace draftproof {

/// Logits of a block; 2^12 would overflow 32-bit lanes of wide registers.
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

/// The least power with a positive probability: the product of a smaller one with the factor is not a normal float.
DRAFTPROOF_DEVICE inline float least_power_served(float factor) {
  // 2 exceeds every power: with a factor below the least normal float every probability is 0.
  return factor >= least_normal_float ? least_normal_float / factor : 2;
}

}  // namespace draftproof
