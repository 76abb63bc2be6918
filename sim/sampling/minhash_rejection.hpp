// Darts, each a uniform token x and a uniform height in [0, 1): the token of the first dart with height < w(x) has
// distribution w. Such a dart is below w. For distributions p and q with the same darts, the first dart below p is the
// first dart below q with probability sum min(p, q) / sum max(p, q).
//
//   token    scale(first, V)                  `first` of a block of noise; uniform up to V 2^-64
//   height   unit_interval(second)            `second` of the block; a multiple of 2^-53, so w is realised up to 2^-53
//
// Cost: V darts on average, one Philox block for each; a BulkNoiseSource makes many blocks in one call.
// Correctness: darts are independent, and a dart hits token x with probability w(x) / V.
// Source: weighted minwise hashing by rejection; as a coupling of draft and target: Daliri et al., arXiv:2408.07978.
#pragma once

#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/sim/sampling/exponential_race.hpp>

namespace draftproof {

/// Kind of the streams of darts, distinct from the streams of races.
inline constexpr std::uint32_t dart_stream = 2 * stream_numbers;

/// One thread's part of a volley of darts that starts at dart `first`; ends at the thread's first hit.
template <class Weight, class R>
struct HitScan {
  static constexpr std::uint32_t volley = 4096;  ///< darts between two comparisons of the hits of all threads
  int vocabulary;
  std::uint32_t stream, first;
  const Weight& weight;
  R& random;

  DRAFTPROOF_DEVICE void operator()(SmallestK<1>& own, int thread, int threads) const {
#if !defined(__CUDA_ARCH__)
    if constexpr (BulkNoiseSource<R>)
      if (threads == 1) return throw_in_bulk(own);
#endif
    for (auto i = static_cast<std::uint32_t>(thread); i < volley; i += static_cast<std::uint32_t>(threads))
      if (hits(own, i, random.noise(stream, first + i))) return;
  }

 private:
  DRAFTPROOF_DEVICE bool hits(SmallestK<1>& own, std::uint32_t i, const NoiseBlock& words) const {
    const auto x = static_cast<Token>(scale(words.first, static_cast<std::uint64_t>(vocabulary)));
    if (!(unit_interval(words.second) < weight(x))) return false;
    own.add({static_cast<double>(i), x});
    return true;
  }

  void throw_in_bulk(SmallestK<1>& own) const {
    constexpr std::uint32_t at_once = 64;
    std::uint32_t words[4 * at_once];
    for (std::uint32_t i = 0; i < volley; i += at_once) {
      random.noise_quarters(stream, first + i, at_once, words);
      for (std::uint32_t j = 0; j < at_once; ++j) {
        const std::uint32_t* quarters = words + 4 * j;
        if (hits(
                own, i + j,
                {(std::uint64_t{quarters[1]} << 32) | quarters[0], (std::uint64_t{quarters[3]} << 32) | quarters[2]}))
          return;
      }
    }
  }
};

/// Returns the token of the first dart of `stream` below `weight`, a distribution over the tokens; no_token after
/// 2^32 darts, 16,384 times the average number for V = 262,144.
template <class L, class Weight, NoiseSource R>
DRAFTPROOF_DEVICE Token first_hit(const L& distributions, int stream, const Weight& weight, R& random) {
  using Scan = HitScan<Weight, R>;
  std::uint32_t first = 0;
  do {
    const Scan scan{distributions.vocabulary(), dart_stream + static_cast<std::uint32_t>(stream), first, weight,
                    random};
    if (const Candidate hit = k_smallest<1>(distributions, 1, scan)[0]; hit.token != no_token) return hit.token;
    first += Scan::volley;
  } while (first != 0);
  return no_token;
}

}  // namespace draftproof
