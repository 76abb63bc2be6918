// Random sources: the base class of sources that decide by 64 random bits, a wrapper whose emit draws at once, and a
// wrapper that chooses the noise of a node of a tree.
//
// All sources decide by 64 uniform random bits, except the sources that enumerate branches.
#pragma once

#include <cstdint>

#include <draftproof/sim/random_source.hpp>

namespace draftproof {

/// Returns u in [0, 1), a multiple of 2^-53. The largest value is 1 - 2^-53, and u * den < den for every double den
/// above 2^-1022 (the product lies at least half an ulp below den), so equal numerator and denominator always accept.
DRAFTPROOF_DEVICE constexpr double unit_interval(std::uint64_t word) {
  return static_cast<double>(word >> 11) * 0x1p-53;
}

/// Returns floor(word * bound / 2^64): uniform on 0 .. bound - 1 up to a relative bias below bound / 2^64.
DRAFTPROOF_DEVICE constexpr std::uint64_t scale(std::uint64_t word, std::uint64_t bound) {
#if defined(__CUDA_ARCH__)
  return __umul64hi(word, bound);
#else
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(word) * bound) >> 64);
#endif
}

/// Base of sources with a member `std::uint64_t next(Purpose)`, which returns 64 random bits. A flip with a certain
/// outcome consumes its bits too, so their number depends on the number of draws only.
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

// A wrapper of a random source, for programs that continue after an emit.

/// Its `emit` draws the token at once, under an explorer too, because a path verifier continues at that token.
template <class R>
class ImmediateEmit {
 public:
  DRAFTPROOF_DEVICE explicit ImmediateEmit(R& random) : random_{random} {}

  /// Returns the next random bits of the source, for schemes that use them directly. Requires a source with `next`.
  DRAFTPROOF_DEVICE std::uint64_t next(Purpose purpose) requires requires(R& random) { random.next(purpose); }
  { return random_.next(purpose); }

  template <class Scalar>
  DRAFTPROOF_DEVICE bool flip(const Scalar& num, const Scalar& den) {
    return random_.flip(num, den);
  }
  template <class W>
  DRAFTPROOF_DEVICE Token pick(const W& weights) {
    return random_.pick(weights);
  }
  template <class W>
  DRAFTPROOF_DEVICE Verdict emit(const W& weights) {
    // Calls pick instead of emit, because the emit of an explorer would list all weights again on each replay.
    if constexpr (requires { R::spreads_emitted; })
      return {random_.pick(weights), none_accepted};
    else
      return random_.emit(weights);
  }
  DRAFTPROOF_DEVICE NoiseBlock noise(std::uint32_t stream, std::uint32_t block) const requires NoiseSource<R> {
    return random_.noise(stream, block);
  }
  void noise_quarters(std::uint32_t stream, std::uint32_t first, std::size_t count,
                      std::uint32_t* out) const requires BulkNoiseSource<R> {
    random_.noise_quarters(stream, first, count, out);
  }

 private:
  R& random_;
};

// A random source that maps streams 0, 1, .. of a program to chosen streams of the shared noise, so that a verifier
// or drafter of one position uses the same stream numbers at every node of a tree, but other random bits at each
// node. Stream s of the program is stream streams[s] of the trial; the kind (companion_stream, dart_stream) stays the
// same.
//
// The drafter of a tree chooses the streams and stores their numbers with the draws (TreeReading::Draws), from which
// the verifier reads them.

template <NoiseSource R>
class NodeNoise {
 public:
  /// Refers to `streams`: one entry for each stream number that the program reads.
  DRAFTPROOF_DEVICE NodeNoise(R& random, const std::uint32_t* streams) : random_{random}, streams_{streams} {}

  template <class Scalar>
  DRAFTPROOF_DEVICE bool flip(const Scalar& num, const Scalar& den) {
    return random_.flip(num, den);
  }
  template <class W>
  DRAFTPROOF_DEVICE Token pick(const W& weights) {
    return random_.pick(weights);
  }
  template <class W>
  DRAFTPROOF_DEVICE Verdict emit(const W& weights) {
    return random_.emit(weights);
  }
  DRAFTPROOF_DEVICE NoiseBlock noise(std::uint32_t stream, std::uint32_t block) const {
    return random_.noise(of_trial(stream), block);
  }
  void noise_quarters(std::uint32_t stream, std::uint32_t first, std::size_t count,
                      std::uint32_t* out) const requires BulkNoiseSource<R> {
    random_.noise_quarters(of_trial(stream), first, count, out);
  }

 private:
  DRAFTPROOF_DEVICE std::uint32_t of_trial(std::uint32_t stream) const {
    const std::uint32_t number = stream % stream_numbers;
    return stream - number + streams_[number];
  }

  R& random_;
  const std::uint32_t* streams_;
};

}  // namespace draftproof
