// Philox4x32-10: a keyed bijection from 128-bit counters to 128-bit blocks. A draw is a pure function of its address,
// so results cannot depend on threads, batches, vector width or device.
// Source: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011).
#pragma once

#include <cstdint>

#include <draftproof/sim/device/host_device.hpp>

namespace draftproof {

struct PhiloxBlock {
  std::uint32_t word[4];
};

/// Returns the block at the address `counter`, by ten rounds under the key, which holds the seed.
DRAFTPROOF_DEVICE constexpr PhiloxBlock philox4x32(PhiloxBlock counter, std::uint32_t key0, std::uint32_t key1) {
  constexpr std::uint32_t multiplier0 = 0xD2511F53u, multiplier1 = 0xCD9E8D57u;
  constexpr std::uint32_t weyl0 = 0x9E3779B9u, weyl1 = 0xBB67AE85u;
#if defined(__GNUC__) && !defined(__CUDACC__)
#pragma GCC unroll 10  // keeps the words in registers, which saves a third of the time
#endif
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{multiplier0} * counter.word[0];
    const std::uint64_t product1 = std::uint64_t{multiplier1} * counter.word[2];
    counter = {
        {static_cast<std::uint32_t>(product1 >> 32) ^ counter.word[1] ^ key0, static_cast<std::uint32_t>(product1),
         static_cast<std::uint32_t>(product0 >> 32) ^ counter.word[3] ^ key1, static_cast<std::uint32_t>(product0)}};
    key0 += weyl0;
    key1 += weyl1;
  }
  return counter;
}

/// The block at (`seed`, `trial`, `slot`, `purpose`) as two 64-bit integers.
struct PhiloxPair {
  std::uint64_t first, second;
};
DRAFTPROOF_DEVICE constexpr PhiloxPair philox_pair(std::uint64_t seed, std::uint64_t trial, std::uint32_t slot,
                                                   std::uint32_t purpose) {
  const PhiloxBlock block =
      philox4x32({{static_cast<std::uint32_t>(trial), static_cast<std::uint32_t>(trial >> 32), slot, purpose}},
                 static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
  return {(std::uint64_t{block.word[1]} << 32) | block.word[0], (std::uint64_t{block.word[3]} << 32) | block.word[2]};
}

}  // namespace draftproof
