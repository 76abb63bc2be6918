// A random source for rules that continue after a token was emitted: emit draws its token at once.
#pragma once

#include <cstdint>

#include <draftproof/sim/random_source.hpp>

namespace draftproof {

/// Makes `emit` an ordinary draw under an explorer too: a path verifier needs the token to go on.
template <class R>
class ImmediateEmit {
 public:
  DRAFTPROOF_DEVICE explicit ImmediateEmit(R& random) : random_{random} {}

  /// The next word of the source, for schemes that decide by words where the source has them.
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
    // A pick rather than an emit: an explorer would enumerate every weight again on each replay.
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
