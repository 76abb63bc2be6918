// GumbelIid of exponential clocks: token x of weight w(x) arrives at time E_x / w(x), with E_x read from shared noise.
// The first arrival has law w; the first B arrivals are a sample without replacement. Two races of one noise with
// weights p and q tend to have the same winner, and neither looks at the other's weights.
//
//   E_x    exponential(word)    word of token x: its upper half is a quarter of block x / 4 of the stream, its lower
//                               half the same quarter of the stream's companion, read by those who may win
//   w      weight(x)            not negative, at least one positive; a token of weight 0 never arrives
//   B      wanted               arrivals asked for
//
// Cost: a 32-bit word a token and stream, made in wide registers where the source can (philox_words.hpp): 1.1 ns a
// token with AVX-512. E >= t, and the upper half of t, show for all but a few tokens that they come too late, so that
// about ln V logarithms are taken. Source: the exponential race is
// folklore; as a coupling of drafts and target: Daliri et al., arXiv:2408.07978. Exact for any order of the passes:
// times are doubles, compared as they are, equal ones by token id.
#pragma once

#include <cstddef>
#include <limits>

#include <draftproof/sim/numeric/exponential_variate.hpp>
#include <draftproof/sim/random_source.hpp>
#include <draftproof/sim/simd/strips.hpp>

namespace draftproof {

/// `token` is no_token where nothing arrived.
struct Candidate {
  double time = std::numeric_limits<double>::infinity();
  Token token = no_token;

  DRAFTPROOF_DEVICE constexpr bool before(const Candidate& other) const {
    if (token == no_token || other.token == no_token) return token != no_token;
    return time < other.time || (time == other.time && token < other.token);
  }
};

/// The k_smallest arrivals so far, in order; at most `most` of them.
template <int most>
class SmallestK {
 public:
  DRAFTPROOF_DEVICE explicit SmallestK(int wanted) : wanted_{wanted} {}

  DRAFTPROOF_DEVICE int size() const { return size_; }
  /// Nothing beyond size().
  DRAFTPROOF_DEVICE Candidate operator[](int i) const { return i < size_ ? arrivals_[i] : Candidate{}; }

  /// Whether a token of this weight and the upper half of its word can still be among the k_smallest; no only if it
  /// cannot.
  DRAFTPROOF_DEVICE bool can_enter(double weight, std::uint32_t upper) const {
    // E >= t >= upper 2^-32. The limit is widened by 2^-40, far above the errors of E, of the products and of the
    // quotient. A weight of 0 gives 0 or NaN: false.
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

/// The `wanted` k_smallest of what walk(own, thread, threads) adds to `own` on every thread that looks at `laws`.
template <int most, class L, class Walk>
DRAFTPROOF_DEVICE SmallestK<most> k_smallest(const L& laws, int wanted, const Walk& walk) {
  if constexpr (requires { laws.template k_smallest<most>(wanted, walk); }) {
    return laws.template k_smallest<most>(wanted, walk);
  } else {
    SmallestK<most> own(wanted);
    walk(own, 0, 1);
    return own;
  }
}

/// Where the lower halves of a stream's words are.
inline constexpr std::uint32_t companion_stream = stream_numbers;

/// A thread's share of a race: every `threads`-th block of every stream.
template <class Weight, class R>
struct RaceWalk {
  static constexpr int volley =
      static_cast<int>(simd::strip) / 4;  ///< blocks whose words are made at once, where the source can
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
  /// Token x, whose word has this upper half.
  template <int most>
  DRAFTPROOF_DEVICE void enter(SmallestK<most>& own, std::uint32_t stream, Token x, std::uint32_t upper) const {
    const double w = weight(x);
    if (!own.can_enter(w, upper)) return;
    const NoiseBlock companion = random.noise(companion_stream + stream, static_cast<std::uint32_t>(x / 4));
    own.add({exponential((std::uint64_t{upper} << 32) | quarter(companion, x % 4)) / w, x});
  }

  /// Full volleys from block 0 on. Returns the first block that is left.
  template <int most>
  int enter_volleys(SmallestK<most>& own, std::uint32_t stream) const {
    constexpr int tokens = 4 * volley, strip = static_cast<int>(simd::strip);
    std::uint32_t upper[tokens];
    Token first = 0;
    for (; first + tokens <= vocabulary; first += tokens) {
      random.noise_quarters(stream, static_cast<std::uint32_t>(first / 4), volley, upper);
      const auto early = [this, &own, &upper, first](Token x) { return own.can_enter(weight(x), upper[x - first]); };
      for (Token start = first; start < first + tokens; start += strip) {
        // The limit only falls, so who cannot enter before a strip cannot in it: most of them end here.
        if (!simd::some(early, start)) continue;
        for (Token x = start; x < start + strip; ++x) enter(own, stream, x, upper[x - first]);
      }
    }
    return first / 4;
  }
};

/// The `wanted` <= `most` first arrivals over `streams` streams from `first_stream` on; several arrivals need a
/// single stream, where their tokens are distinct. Fewer where fewer tokens have weight.
template <int most, class L, class Weight, NoiseSource R>
DRAFTPROOF_DEVICE SmallestK<most> race(const L& laws, int first_stream, int streams, int wanted, const Weight& weight,
                                      R& random) {
  return k_smallest<most>(laws, wanted, RaceWalk<Weight, R>{laws.vocabulary(), first_stream, streams, weight, random});
}

}  // namespace draftproof
