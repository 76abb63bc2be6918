// Where a program's randomness comes from. Drafters and verifiers consume it through a few calls only, so that an
// explorer can walk every branch, a tape can script every draw, and a ledger can see all of them.
//
//   flip(num, den)   true with probability min(1, num / den); compares u * den < num, strictly, never divides
//   pick(weights)    a token with probability proportional to its weight; the program goes on with it
//   emit(weights)    the same, terminal: the verdict of the trial. An explorer spreads it over all tokens at once
//
//   noise(s, b)      block b of stream s of the noise that drafter and verifier of a trial share: two words
//
// The first three belong to whoever calls them: drafter and verifier never read the same word. Noise is addressed by
// trial, stream and block alone, so whoever asks gets the same words; sources that walk branches cannot offer it.
//
// den > 0 is a precondition of flip (a draft that cannot have been drawn has no accept test), a positive total one
// of pick and emit: no fallback hides a branch of probability zero.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include <draftproof/sim/token.hpp>

namespace draftproof {

/// Draws of different purposes never share a counter. One value per role, not per call site.
enum class Purpose : std::uint32_t {
  draft = 1,
  flip = 2,
  pick = 3,
  emit = 4,
  bonus = 5,
  count = 6,
  model = 7,
  noise = 8
};

/// What one address of the shared noise holds: words 2 b and 2 b + 1 of a stream.
struct NoiseBlock {
  std::uint64_t first, second;
};

namespace detail {
// Not a lambda: nvcc rejects a generic one inside a requires expression.
struct SomeVisit {
  DRAFTPROOF_DEVICE void operator()(Token, const auto&) const {}
};
}  // namespace detail

/// A quarter of a block of noise, in the order of its words from the lower half of the first on.
DRAFTPROOF_DEVICE constexpr std::uint32_t quarter(const NoiseBlock& block, int i) {
  const std::uint64_t half = i < 2 ? block.first : block.second;
  return static_cast<std::uint32_t>(i % 2 == 0 ? half : half >> 32);
}

/// Weights over tokens, as a source draws from them or walks them.
template <class W>
concept Weights = requires(const W& weights, const detail::SomeVisit& visit) {
  { weights.draw(std::uint64_t{}) } -> std::same_as<Token>;
  weights.for_each(visit);
};

/// Weights that can be asked about one token; `total` is their sum over all.
template <class W>
concept WeighsTokens = requires(const W& weights, Token x) {
  weights.weight(x);
  weights.total();
};

/// Weights over something other than tokens that say there may be as many as tokens: a walk of one tuple may rather
/// draw such a pick than try every branch.
template <class W>
concept ManyBranches = requires {
  W::many_branches;
};

namespace detail {
struct SomeWeights {
  Token draw(std::uint64_t) const { return 0; }
  void for_each(auto&&) const {}
};
}  // namespace detail

template <class R>
concept RandomSource = requires(R& random, const detail::SomeWeights& weights) {
  { random.flip(1.0, 2.0) } -> std::same_as<bool>;
  { random.pick(weights) } -> std::same_as<Token>;
  { random.emit(weights) } -> std::same_as<Verdict>;
};

/// Streams of noise are numbered below this; the two bits above say what kind of words a stream holds.
inline constexpr std::uint32_t stream_numbers = 0x400000;

/// A source whose noise a drafter and a verifier can share. With their kinds streams are below 2^24.
template <class R>
concept NoiseSource = RandomSource<R> && requires(R& random, std::uint32_t stream, std::uint32_t block) {
  { random.noise(stream, block) } -> std::same_as<NoiseBlock>;
};

/// A source of noise that makes many blocks of a stream faster than one by one; a log would not see them.
template <class R>
concept BulkNoiseSource = NoiseSource<R> &&
    requires(const R& random, std::uint32_t stream, std::size_t count, std::uint32_t* out) {
  random.noise_quarters(stream, stream, count, out);
};

}  // namespace draftproof
