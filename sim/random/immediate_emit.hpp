// A random source for rules that go on after a token was emitted: every draw is immediate at once.
#pragma once

#include <cstdint>

#include <draftproof/sim/random_source.hpp>

namespace draftproof {

/// Makes `emit` an ordinary draw: a walk must know the token to go on.
template <class R>
class ImmediateEmit {
 public:
  DRAFTPROOF_DEVICE explicit ImmediateEmit(R& random) : random_{random} {}

  /// For schemes that decide by raw words where there are any.
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
    // Not by emitting first: an explorer would look at every weight again whenever it replays.
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

}  // namespace draftproof
