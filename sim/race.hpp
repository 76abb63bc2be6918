// Races of exponential clocks: token x of weight w(x) arrives at time E_x / w(x), with E_x read from shared noise.
// The first arrival has law w; the first B arrivals are a sample without replacement. Two races of one noise with
// weights p and q tend to have the same winner, and neither looks at the other's weights.
//
//   E_x    exponential(word)    word x of a stream: half of block x / 2
//   w      weight(x)            not negative, at least one positive; a token of weight 0 never arrives
//   B      wanted               arrivals asked for
//
// Cost: one Philox block for two tokens a stream, and little more: E >= t shows for all but a few tokens that they
// come too late, so that about ln V logarithms are taken. Source: the exponential race is folklore; as a coupling of
// drafts and target: Daliri et al., arXiv:2408.07978.
// Exact for any order of the passes: times are doubles, compared as they are, equal ones by token id.
#pragma once

#include <cstddef>
#include <limits>

#include <draftproof/sim/exponential.hpp>
#include <draftproof/sim/random_source.hpp>
#include <draftproof/sim/uniform_source.hpp>

namespace draftproof {

/// `token` is no_token where nothing arrived.
struct Arrival {
  double time = std::numeric_limits<double>::infinity();
  Token token = no_token;

  DRAFTPROOF_DEVICE constexpr bool before(const Arrival& other) const {
    if (token == no_token || other.token == no_token) return token != no_token;
    return time < other.time || (time == other.time && token < other.token);
  }
};

/// The earliest arrivals so far, in order; at most `most` of them.
template <int most>
class Arrivals {
 public:
  DRAFTPROOF_DEVICE explicit Arrivals(int wanted) : wanted_{wanted} {}

  DRAFTPROOF_DEVICE int size() const { return size_; }
  /// Nothing beyond size().
  DRAFTPROOF_DEVICE Arrival operator[](int i) const { return i < size_ ? arrivals_[i] : Arrival{}; }

  /// Whether clock `word` of token weight `weight` can still be among the earliest; no only if it cannot.
  DRAFTPROOF_DEVICE bool can_enter(double weight, std::uint64_t word) const {
    // E >= t >= unit_interval(word). The limit is widened by 2^-40, far above the errors of E, of the products and of
    // the quotient. A weight of 0 gives 0 or NaN: false.
    return unit_interval(word) < limit_ * weight;
  }

  DRAFTPROOF_DEVICE void add(const Arrival& arrival) {
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
  Arrival arrivals_[static_cast<std::size_t>(most)];
  int wanted_, size_ = 0;
  double limit_ = std::numeric_limits<double>::infinity();
};

/// The `wanted` earliest of what walk(own, thread, threads) adds to `own` on every thread that looks at `laws`.
template <int most, class L, class Walk>
DRAFTPROOF_DEVICE Arrivals<most> earliest(const L& laws, int wanted, const Walk& walk) {
  if constexpr (requires { laws.template earliest<most>(wanted, walk); }) {
    return laws.template earliest<most>(wanted, walk);
  } else {
    Arrivals<most> own(wanted);
    walk(own, 0, 1);
    return own;
  }
}

/// A thread's share of a race: every `threads`-th block of every stream.
template <class Weight, class R>
struct RaceWalk {
  int vocabulary, first_stream, streams;
  const Weight& weight;
  R& random;

  template <int most>
  DRAFTPROOF_DEVICE void operator()(Arrivals<most>& own, int thread, int threads) const {
    for (int stream = first_stream; stream < first_stream + streams; ++stream)
      for (int block = thread; 2 * block < vocabulary; block += threads) {
        const Token x = 2 * block;
        const double first = weight(x), second = x + 1 < vocabulary ? weight(x + 1) : 0.0;
        if (!(first > 0) && !(second > 0)) continue;
        const NoiseBlock words = random.noise(static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(block));
        if (own.can_enter(first, words.first)) own.add({exponential(words.first) / first, x});
        if (own.can_enter(second, words.second)) own.add({exponential(words.second) / second, x + 1});
      }
  }
};

/// The `wanted` <= `most` first arrivals over `streams` streams from `first_stream` on; several arrivals need a
/// single stream, where their tokens are distinct. Fewer where fewer tokens have weight.
template <int most, class L, class Weight, NoiseSource R>
DRAFTPROOF_DEVICE Arrivals<most> race(const L& laws, int first_stream, int streams, int wanted, const Weight& weight,
                                      R& random) {
  return earliest<most>(laws, wanted, RaceWalk<Weight, R>{laws.vocabulary(), first_stream, streams, weight, random});
}

}  // namespace draftproof
