// Races of exponential clocks: token x of weight w(x) arrives at time E_x / w(x), with E_x read from shared noise.
// The first arrival has distribution w; the first B arrivals are a sample without replacement. Two races with the
// same noise and weights p and q often have the same winner, although neither reads the other's weights.
//
//   E_x    exponential(word)    upper half of `word`: a quarter of block x / 4 of the stream; lower half: the same
//                               quarter of the companion stream, read only for tokens that may win
//   w      weight(x)            not negative, at least one positive; a token of weight 0 never arrives
//   B      wanted               number of arrivals
//
// Cost: 32 random bits for each token and stream, made in wide registers if the source is a BulkNoiseSource
// (philox_simd.hpp): 1.1 ns for each token with AVX-512. Because E >= word / 2^64 (exp.hpp), the upper half of `word`
// suffices to reject almost all tokens, and E is computed for about ln V of them.
// Correctness: times are doubles, and equal times are ordered by token id, so the result does not depend on the order
// in which tokens are read.
// Source: the exponential race is folklore; as a coupling of drafts and target: Daliri et al., arXiv:2408.07978.
#pragma once

#include <cstddef>
#include <limits>

#include <draftproof/sim/numeric/exp.hpp>
#include <draftproof/sim/random_source.hpp>
#include <draftproof/sim/simd/strips.hpp>

namespace draftproof {

/// An arrival: its time and token; no_token if nothing arrived.
struct Candidate {
  double time = std::numeric_limits<double>::infinity();
  Token token = no_token;

  /// Whether this arrival is earlier; equal times are ordered by token id.
  DRAFTPROOF_DEVICE constexpr bool before(const Candidate& other) const {
    if (token == no_token || other.token == no_token) return token != no_token;
    return time < other.time || (time == other.time && token < other.token);
  }
};

/// The earliest arrivals so far, in order, at most `wanted` of them; `wanted` <= `most`.
template <int most>
class SmallestK {
 public:
  DRAFTPROOF_DEVICE explicit SmallestK(int wanted) : wanted_{wanted} {}

  DRAFTPROOF_DEVICE int size() const { return size_; }
  /// Returns the i-th earliest arrival, with no_token for i >= size().
  DRAFTPROOF_DEVICE Candidate operator[](int i) const { return i < size_ ? arrivals_[i] : Candidate{}; }

  /// Returns false only if the weight of a token and the upper half of its random bits exclude the token from the
  /// earliest arrivals. A token for which it returns true need not be among them.
  DRAFTPROOF_DEVICE bool can_enter(double weight, std::uint32_t upper) const {
    // The arrival time is E / weight, and E >= upper 2^-32. The limit is increased by a relative 2^-40, far more than
    // the errors of E, products and quotient. For weight 0 the product is 0 or NaN, and the comparison false.
    return upper * 0x1p-32 < limit_ * weight;
  }

  DRAFTPROOF_DEVICE void add(const Candidate& arrival) {
    int place = size_;
    if (size_ == wanted_) {
      if (!arrival.before(arrivals_[size_ - 1])) return;
      --place;
    } else {
      ++size_;
    }
    for (; place > 0 && arrival.before(arrivals_[place - 1]); --place) arrivals_[place] = arrivals_[place - 1];
    arrivals_[place] = arrival;
    if (size_ == wanted_) limit_ = arrivals_[size_ - 1].time * (1 + 0x1p-40);
  }

 private:
  Candidate arrivals_[static_cast<std::size_t>(most)];
  int wanted_, size_ = 0;
  double limit_ = std::numeric_limits<double>::infinity();
};

/// Returns the `wanted` earliest arrivals over all threads that share `distributions`; `scan(own, thread, threads)`
/// adds the arrivals of one thread to `own`.
template <int most, class L, class Scan>
DRAFTPROOF_DEVICE SmallestK<most> k_smallest(const L& distributions, int wanted, const Scan& scan) {
  if constexpr (requires { distributions.template k_smallest<most>(wanted, scan); }) {
    return distributions.template k_smallest<most>(wanted, scan);
  } else {
    SmallestK<most> own(wanted);
    scan(own, 0, 1);
    return own;
  }
}

/// Kind of the streams with the lower halves of the random bits.
inline constexpr std::uint32_t companion_stream = stream_numbers;

/// One thread's part of a race: every `threads`-th block of each stream.
template <class Weight, class R>
struct RaceScan {
  static constexpr int volley =
      static_cast<int>(simd::strip) / 4;  ///< blocks that are made in one call of a BulkNoiseSource
  int vocabulary, first_stream, streams;
  const Weight& weight;
  R& random;

  template <int most>
  DRAFTPROOF_DEVICE void operator()(SmallestK<most>& own, int thread, int threads) const {
    for (int stream = first_stream; stream < first_stream + streams; ++stream) {
      int block = thread;
#if !defined(__CUDA_ARCH__)
      if constexpr (BulkNoiseSource<R>)
        if (threads == 1) block = enter_volleys(own, static_cast<std::uint32_t>(stream));
#endif
      for (; 4 * block < vocabulary; block += threads) {
        const NoiseBlock upper = random.noise(static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(block));
        const int tokens = vocabulary - 4 * block < 4 ? vocabulary - 4 * block : 4;
        for (int i = 0; i < tokens; ++i)
          enter(own, static_cast<std::uint32_t>(stream), 4 * block + i, quarter(upper, i));
      }
    }
  }

 private:
  /// Adds token x, if it may be among the earliest; `upper` is the upper half of its random bits.
  template <int most>
  DRAFTPROOF_DEVICE void enter(SmallestK<most>& own, std::uint32_t stream, Token x, std::uint32_t upper) const {
    const double w = weight(x);
    if (!own.can_enter(w, upper)) return;
    const NoiseBlock companion = random.noise(companion_stream + stream, static_cast<std::uint32_t>(x / 4));
    own.add({exponential((std::uint64_t{upper} << 32) | quarter(companion, x % 4)) / w, x});
  }

  /// Adds the tokens of all full volleys, from block 0 on. Returns the first block after them.
  template <int most>
  int enter_volleys(SmallestK<most>& own, std::uint32_t stream) const {
    constexpr int tokens = 4 * volley, strip = static_cast<int>(simd::strip);
    std::uint32_t upper[tokens];
    Token first = 0;
    for (; first + tokens <= vocabulary; first += tokens) {
      random.noise_quarters(stream, static_cast<std::uint32_t>(first / 4), volley, upper);
      const auto early = [this, &own, &upper, first](Token x) { return own.can_enter(weight(x), upper[x - first]); };
      for (Token start = first; start < first + tokens; start += strip) {
        // The limit only falls, so a token that cannot enter now cannot enter later: most strips end here.
        if (!simd::some(early, start)) continue;
        for (Token x = start; x < start + strip; ++x) enter(own, stream, x, upper[x - first]);
      }
    }
    return first / 4;
  }
};

/// Returns the first `wanted` <= `most` arrivals over `streams` streams from `first_stream` on, fewer if fewer tokens
/// have positive weight. wanted > 1 requires a single stream, so that the tokens are distinct.
template <int most, class L, class Weight, NoiseSource R>
DRAFTPROOF_DEVICE SmallestK<most> race(const L& distributions, int first_stream, int streams, int wanted,
                                       const Weight& weight, R& random) {
  return k_smallest<most>(distributions, wanted,
                          RaceScan<Weight, R>{distributions.vocabulary(), first_stream, streams, weight, random});
}

}  // namespace draftproof
