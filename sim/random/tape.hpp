// Random sources for tests, one type that stands for all sources of random bits, and the distribution that a draw has
// with rounded sums.
//
// A tape returns given random bits in order; a recorder logs the draws of another source and their outcomes. Tests of
// edge cases, of replays and of draw counts use both.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <draftproof/sim/random/uniform_source.hpp>

namespace draftproof {

// The distribution that a draw from weights realises, that is, has in floating point. A draw compares a uniform with
// running sums of its weights, and the probabilities are the differences of these sums, which may be rounded.
//
//   for_each(visit)           visits the weights
//   for_each_realised(visit)  visits the distribution of `draw` for an ideal uniform; optional if sums are exact
//
// Cost: one pass.
// Correctness: each for_each_realised reads the sums that `draw` of the same class compares with.

/// Calls visit(token, weight) with the realised weights, or with the weights if their sums are exact.
template <class W, class Visit>
void visit_realised(const W& weights, const Visit& visit) {
  if constexpr (requires { weights.for_each_realised(visit); })
    weights.for_each_realised(visit);
  else
    weights.for_each(visit);
}

/// Calls visit(j, share) for low <= j <= high: `share` is the length of the set of thresholds in [from, to) for which
/// the bisection for the first j with bound(j) > threshold ends at j. Bounds may fall with j by rounding; the result
/// then depends on the bounds that the bisection reads, so this function reads the same bounds.
template <class Bound, class Visit>
void realise_bisection(std::size_t low, std::size_t high, double from, double to, const Bound& bound,
                       const Visit& visit) {
  if (!(from < to)) return;
  if (low == high) return visit(low, to - from);
  const std::size_t middle = low + (high - low) / 2;
  const double cut = bound(middle);
  realise_bisection(low, middle, from, std::min(to, cut), bound, visit);
  realise_bisection(middle + 1, high, std::max(from, cut), to, bound, visit);
}

/// Thrown if a limit ends a run, or an enumeration that must be complete; the check is then undecided.
class EnumerationCut : public std::length_error {
 public:
  using std::length_error::length_error;
};

/// A source that returns given random bits in the order of the calls, whatever their purpose.
class Tape : public UniformSource<Tape> {
 public:
  explicit Tape(std::vector<std::uint64_t> words) : words_{std::move(words)} {}

  /// Returns random bits for which unit_interval() is `u`, rounded down to a multiple of 2^-53; u in [0, 1).
  static constexpr std::uint64_t word(double u) { return static_cast<std::uint64_t>(u * 0x1p53) << 11; }

  /// Returns the next 64 random bits. Throws: std::out_of_range at the end of the tape.
  std::uint64_t next(Purpose) {
    if (position_ == words_.size())
      throw std::out_of_range("tape: the program draws more than the " + std::to_string(words_.size()) +
                              " random numbers on the tape");
    return words_[position_++];
  }
  /// Returns the next 128 random bits, whatever the address. Throws: std::out_of_range at the end of the tape.
  NoiseBlock noise(std::uint32_t, std::uint32_t) {
    const std::uint64_t first = next(Purpose::noise);
    return {first, next(Purpose::noise)};
  }
  /// Number of 64-bit integers returned so far.
  std::size_t played() const { return position_; }

 private:
  std::vector<std::uint64_t> words_;
  std::size_t position_ = 0;
};

/// One logged draw. `value` is 0 or 1 for a flip, the token for a pick or an emit, no_token for noise.
struct Draw {
  Purpose purpose;
  std::uint64_t word;
  double num, den;  ///< arguments of a flip; 0 for other draws
  Token value;
};

/// Wraps a source of random bits and logs every draw.
template <class Source>
class Recorder : public UniformSource<Recorder<Source>> {
  using Base = UniformSource<Recorder<Source>>;

 public:
  explicit Recorder(Source source) : source_{std::move(source)} {}

  std::uint64_t next(Purpose purpose) {
    check_length();
    const std::uint64_t word = source_.next(purpose);
    draws_.push_back({purpose, word, 0, 0, no_token});
    return word;
  }

  NoiseBlock noise(std::uint32_t stream, std::uint32_t block) {
    const NoiseBlock words = source_.noise(stream, block);
    draws_.push_back({Purpose::noise, words.first, 0, 0, no_token});
    draws_.push_back({Purpose::noise, words.second, 0, 0, no_token});
    return words;
  }

  template <class Scalar>
  bool flip(Scalar num, Scalar den) {
    const bool outcome = Base::flip(num, den);
    draws_.back().num = static_cast<double>(num);
    draws_.back().den = static_cast<double>(den);
    draws_.back().value = outcome;
    return outcome;
  }
  template <class W>
  Token pick(const W& weights) {
    return draws_.emplace_back(log(Purpose::pick, weights)).value;
  }
  template <class W>
  Verdict emit(const W& weights) {
    return {draws_.emplace_back(log(Purpose::emit, weights)).value, none_accepted};
  }

  /// All draws so far, in order.
  const std::vector<Draw>& draws() const { return draws_; }

 private:
  /// Throws: EnumerationCut after 2^23 draws, which take 0.3 GB: a program may draw without end.
  void check_length() const {
    if (draws_.size() >= std::size_t{1} << 23)
      throw EnumerationCut("a run of the program draws more than 2^23 numbers");
  }
  template <class W>
  Draw log(Purpose purpose, const W& weights) {
    check_length();
    const std::uint64_t word = source_.next(purpose);
    return {purpose, word, 0, 0, weights.draw(word)};
  }

  Source source_;
  std::vector<Draw> draws_;
};

// One type for all sources of random bits, so that a verifier is compiled once: Philox for a simulated trial, a tape
// of edge values, all points of a grid, or streams that are aliased on purpose. Every draw is logged.
//
//   Words      interface of the random bits
//   Scripted   the source that a program runs on

class Words {
 public:
  virtual ~Words() = default;
  virtual std::uint64_t next(Purpose purpose) = 0;
  virtual NoiseBlock noise(std::uint32_t stream, std::uint32_t block) = 0;
};

/// The random bits of another source: Philox for a simulated trial, Tape for a script.
template <class Source>
class WordsOf final : public Words {
 public:
  explicit WordsOf(Source source) : source_{std::move(source)} {}
  std::uint64_t next(Purpose purpose) override { return source_.next(purpose); }
  NoiseBlock noise(std::uint32_t stream, std::uint32_t block) override { return source_.noise(stream, block); }

 private:
  Source source_;
};

/// A source that refers to a Words object, which must outlive it.
class WordsFrom {
 public:
  WordsFrom(Words& words) : words_{&words} {}  // NOLINT: implicit, because callers pass a Words object as a source
  std::uint64_t next(Purpose purpose) { return words_->next(purpose); }
  NoiseBlock noise(std::uint32_t stream, std::uint32_t block) { return words_->noise(stream, block); }

 private:
  Words* words_;
};

using Scripted = Recorder<WordsFrom>;

}  // namespace draftproof
