// The random decisions of drafters and verifiers. Every decision is made through one of four calls, so an explorer can
// enumerate every branch, a tape can script every draw, and a recorder can log every draw.
//
//   call             returns                                                                             shape
//   flip(num, den)   true with probability min(1, num / den); compares u * den < num, strictly,          bool
//                    and never divides
//   pick(weights)    a token with probability proportional to its weight; the program continues with it  token
//   emit(weights)    as pick, for the last draw of a trial; an explorer spreads it over all tokens       verdict
//   noise(s, b)      block b of stream s of the noise that drafter and verifier of a trial share         128 bits
//
// The verdict of emit must be returned as it is, except for `accepted`: explorers and trials may perform this draw
// later, so its token is a placeholder below 0. A program that reads or changes the token calls pick.
//
// Drafter and verifier never read the same random bits through flip, pick and emit. Noise is addressed by trial,
// stream and block, so every reader of an address gets the same bits; sources that enumerate branches have no noise.
//
// Preconditions: den > 0 in flip (q(x) > 0 for every token x that can be drafted); a positive total in pick and emit.
// A draw from weights that are all zero gives no_token; sources do not choose another token instead.
// Throws: std::logic_error from an explorer if a precondition does not hold; std::out_of_range from a tape at its
// end.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include <draftproof/sim/token.hpp>

namespace draftproof {

/// The purpose of a draw, a part of the address of its random bits: draws of different purposes share no random bits.
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

/// The random bits of block b of a stream of the shared noise: the 64-bit integers 2 b and 2 b + 1 of the stream.
struct NoiseBlock {
  std::uint64_t first, second;
};

namespace detail {
// A struct, because nvcc rejects a generic lambda inside a requires expression.
struct SomeVisit {
  DRAFTPROOF_DEVICE void operator()(Token, const auto&) const {}
};
}  // namespace detail

/// Returns quarter i = 0 .. 3 of a block of noise, 32 bits: the lower half of `first`, the upper half of `first`, the
/// lower half of `second`, the upper half of `second`.
DRAFTPROOF_DEVICE constexpr std::uint32_t quarter(const NoiseBlock& block, int i) {
  const std::uint64_t half = i < 2 ? block.first : block.second;
  return static_cast<std::uint32_t>(i % 2 == 0 ? half : half >> 32);
}

/// Weights over tokens. draw(word) returns the token that 64 random bits select, no_token if all weights are zero;
/// for_each(visit) calls visit(token, weight) for every token of positive weight.
template <class W>
concept Weights = requires(const W& weights, const detail::SomeVisit& visit) {
  { weights.draw(std::uint64_t{}) } -> std::same_as<Token>;
  weights.for_each(visit);
};

/// Weights that also give the weight of one token, and `total`, the sum over all tokens.
template <class W>
concept WeighsTokens = requires(const W& weights, Token x) {
  weights.weight(x);
  weights.total();
};

/// Weights over other outcomes than tokens, possibly as many outcomes as there are tokens. An explorer may draw one
/// outcome of such weights instead of enumerating all (Explorer::fix_picks).
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

/// A source of random decisions: it has the calls of the table at the top of this file except noise.
template <class R>
concept RandomSource = requires(R& random, const detail::SomeWeights& weights) {
  { random.flip(1.0, 2.0) } -> std::same_as<bool>;
  { random.pick(weights) } -> std::same_as<Token>;
  { random.emit(weights) } -> std::same_as<Verdict>;
};

/// Stream numbers are below this bound, 2^22. The two bits above a number give the stream's kind: companion_stream,
/// dart_stream.
inline constexpr std::uint32_t stream_numbers = 0x400000;

/// A source whose noise a drafter and a verifier can share. A stream with its kind is below 2^24.
template <class R>
concept NoiseSource = RandomSource<R> && requires(R& random, std::uint32_t stream, std::uint32_t block) {
  { random.noise(stream, block) } -> std::same_as<NoiseBlock>;
};

/// A source of noise that writes the quarters of `count` blocks of a stream in one call, faster than block by block.
/// A source that logs its draws does not offer this call.
template <class R>
concept BulkNoiseSource = NoiseSource<R> &&
    requires(const R& random, std::uint32_t stream, std::size_t count, std::uint32_t* out) {
  random.noise_quarters(stream, stream, count, out);
};

}  // namespace draftproof
