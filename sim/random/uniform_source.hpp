// Decisions from 64-bit uniform words, for every source that draws numbers rather than branches.
#pragma once

#include <cstdint>

#include <draftproof/sim/random_source.hpp>

namespace draftproof {

/// u in [0, 1) on the 53-bit grid. The largest value is 1 - 2^-53, and u * den < den for every double den above
/// 2^-1022 (the product lies at least half an ulp below den), so equal numerator and denominator always accept.
DRAFTPROOF_DEVICE constexpr double unit_interval(std::uint64_t word) {
  return static_cast<double>(word >> 11) * 0x1p-53;
}

/// floor(word * bound / 2^64): uniform on 0 .. bound - 1 up to a relative bias below bound / 2^64.
DRAFTPROOF_DEVICE constexpr std::uint64_t scale(std::uint64_t word, std::uint64_t bound) {
#if defined(__CUDA_ARCH__)
  return __umul64hi(word, bound);
#else
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(word) * bound) >> 64);
#endif
}

/// Base of sources with a member `std::uint64_t next(Purpose)`. A flip with a certain outcome consumes its word too,
/// so the words read do not depend on outcomes.
template <class Derived>
class UniformSource {
 public:
  template <class Scalar>
  DRAFTPROOF_DEVICE bool flip(Scalar num, Scalar den) {
    return unit_interval(self().next(Purpose::flip)) * static_cast<double>(den) < static_cast<double>(num);
  }

  template <class W>
  DRAFTPROOF_DEVICE Token pick(const W& weights) {
    return weights.draw(self().next(Purpose::pick));
  }

  template <class W>
  DRAFTPROOF_DEVICE Verdict emit(const W& weights) {
    return {weights.draw(self().next(Purpose::emit)), none_accepted};
  }

 private:
  DRAFTPROOF_DEVICE Derived& self() { return static_cast<Derived&>(*this); }
};

}  // namespace draftproof
