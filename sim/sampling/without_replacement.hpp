// Draws outside a set of tokens, the most probable tokens of a row, and drafts without replacement for a batch of
// trials.
//
// Distributions outside a set of tokens: the uniform distribution outside the set, and the pair of p and the uniform
// distribution, both restricted to tokens with q = 0.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include <draftproof/sim/random/batched_philox.hpp>
#include <draftproof/sim/sampling/alias_table.hpp>
#include <draftproof/sim/sampling/guide_table.hpp>
#include <draftproof/sim/sampling/weights.hpp>
#include <draftproof/sim/simd/strips.hpp>
#include <draftproof/sim/token.hpp>
#include <draftproof/sim/verifier.hpp>

namespace draftproof {

/// Equal weights on the V - n tokens that are not among the n distinct tokens at `seen`.
class UniformOnComplement {
 public:
  DRAFTPROOF_DEVICE UniformOnComplement(int vocabulary, const Token* seen, int n)
      : vocabulary_{vocabulary}, seen_{seen}, n_{n} {}

  DRAFTPROOF_DEVICE Token draw(std::uint64_t word) const {
    if (vocabulary_ <= n_) return no_token;
    auto rank = static_cast<Token>(scale(word, static_cast<std::uint64_t>(vocabulary_ - n_)));
    // Finds the rank-th token outside the set: x becomes rank + the number of seen tokens up to x, until it stays the
    // same.
    for (Token x = rank;;) {
      int below = 0;
      for (int i = 0; i < n_; ++i) below += seen_[i] <= x;
      if (x == rank + below) return x;
      x = rank + below;
    }
  }
  template <class Visit>
  DRAFTPROOF_DEVICE void for_each(Visit visit) const {
    for (Token x = 0; x < vocabulary_; ++x)
      if (!among(x, seen_, n_)) visit(x, 1);
  }

 private:
  int vocabulary_;
  const Token* seen_;
  int n_;
};

/// The pair (p restricted to q = 0 and normalised, uniform on q = 0) at a position whose first `used` drafts are all
/// tokens with q > 0. It is a Position, so a verifier runs on it unchanged. Its sums are passes, without tables,
/// because the case is rare. Requires a token with q = 0 and p > 0.
template <class P>
class OffSupportPosition {
 public:
  using Scalar = typename P::Scalar;

  DRAFTPROOF_DEVICE OffSupportPosition(const P& at, int used)
      : at_{at},
        used_{used},
        mass_{at.sum([&at](Token x) { return off(at, x) ? at.target(x) : at.zero(); })},
        share_{at.one() / count(at)} {}

  DRAFTPROOF_DEVICE int drafts() const { return at_.drafts() - used_; }
  DRAFTPROOF_DEVICE Token draft(int k) const { return at_.draft(used_ + k); }
  DRAFTPROOF_DEVICE const Token* draft_data() const { return at_.draft_data() + used_; }
  DRAFTPROOF_DEVICE Scalar zero() const { return at_.zero(); }
  DRAFTPROOF_DEVICE Scalar one() const { return at_.one(); }
  DRAFTPROOF_DEVICE Scalar target(Token x) const { return off(at_, x) ? at_.target(x) / mass_ : at_.zero(); }
  DRAFTPROOF_DEVICE Scalar proposal(Token x) const { return off(at_, x) ? share_ : at_.zero(); }
  DRAFTPROOF_DEVICE Scalar residual_mass(const Scalar& b) const {
    return at_.sum([this, b](Token x) { return above(x, b); });
  }
  DRAFTPROOF_DEVICE auto residual(const Scalar& b) const {
    return at_.weights([self = *this, b](Token x) { return self.above(x, b); });
  }
  DRAFTPROOF_DEVICE Scalar mass_without(int, const Token*, int n) const { return at_.one() - share_ * Scalar(n); }

 private:
  DRAFTPROOF_DEVICE static bool off(const P& at, Token x) { return !(at.proposal(x) > at.zero()); }
  /// Returns the number of tokens with q = 0, an integer that every scalar represents exactly.
  DRAFTPROOF_DEVICE static Scalar count(const P& at) {
    int tokens = 0;
    for (Token x = 0; x < at.vocabulary(); ++x) tokens += off(at, x);
    return Scalar(tokens);
  }
  DRAFTPROOF_DEVICE Scalar above(Token x, const Scalar& b) const {
    const Scalar weight = target(x) - b * proposal(x);
    return weight > at_.zero() ? weight : at_.zero();
  }

  const P& at_;
  int used_;
  Scalar mass_, share_;
};

// The inverse of distributions.kth_most_probable(j): the rank of a token by q, most probable first, equally probable
// tokens by id. It calls kth_most_probable instead of comparing q, because the q of a table is rounded.

/// Returns the number of tokens before x, at most max_drafts.
template <class L>
int probability_rank(const L& distributions, Token x) {
  const int most = std::min(distributions.vocabulary(), max_drafts);
  for (int before = 0; before < most; ++before)
    if (distributions.kth_most_probable(before) == x) return before;
  return max_drafts;
}

// The first few tokens in some order, such as the most probable tokens of a distribution.
//
//   key(x)         leading key of the order: before(x, y) only if key(x) >= key(y)
//   before(x, y)   the order, strict
//   counts(x)      whether x may be returned
//
// Cost: one pass. Most strips of tokens are rejected by their keys (simd/strips.hpp). The tokens found so far form a
// heap, so finding all tokens is a heap sort.

/// Returns the first tokens of the order among 0 .. vocabulary - 1, in order, at most `most` of them.
template <class Key, class Before, class Counts>
std::vector<Token> first_tokens(int vocabulary, std::size_t most, const Key& key, const Before& before,
                                const Counts& counts) {
  constexpr auto strip = static_cast<int>(simd::strip);
  std::vector<Token> found;  // a heap whose front is the last token of the order
  if (most == 0) return found;
  for (Token x = 0; x < vocabulary; ++x) {
    const bool full = found.size() == most;
    if constexpr (std::is_floating_point_v<std::remove_cvref_t<decltype(key(x))>>)
      if (full && x % strip == 0 && x + strip <= vocabulary) {
        const auto least = key(found.front());
        if (!simd::some([&key, least](Token y) { return key(y) >= least; }, x)) {
          x += strip - 1;
          continue;
        }
      }
    if ((full && !before(x, found.front())) || !counts(x)) continue;
    if (full) {
      std::pop_heap(found.begin(), found.end(), before);
      found.pop_back();
    }
    found.push_back(x);
    std::push_heap(found.begin(), found.end(), before);
  }
  std::sort_heap(found.begin(), found.end(), before);
  return found;
}

/// Returns the most probable of the tokens 0 .. vocabulary - 1, at most max_drafts, by descending `probability(x)`;
/// equally probable tokens are ordered by id.
template <class Probability>
std::vector<Token> top_tokens(int vocabulary, const Probability& probability) {
  return first_tokens(
      vocabulary, max_drafts, probability,
      [&probability](Token a, Token b) {
        return probability(a) > probability(b) || (probability(a) == probability(b) && a < b);
      },
      [](Token) { return true; });
}

// Draws without replacement for the trials of a batch: all trials are drawn together, then each trial in which q has
// fewer than K tokens is drawn once more by the drafter.
//
// Cost: one call of L::draw_without, and the drafter's draws for the trials that are drawn again.
// Correctness: equal to drawing trial by trial, because random bits have addresses, and the second draw of a trial
// reads the same bits.

/// Writes the drafts of trial t to out + t * stride and their number to lengths[t]; `drafter` draws the drafts of a
/// single trial.
template <class Drafter, DrawsTogether L, class Words>
void draw_without_together(const Drafter& drafter, const L& distributions, int drafts, Words& words, Token* out,
                           int stride, int* lengths) {
  bool complete[Words::most];
  distributions.draw_without(0, drafts, words, out, stride, complete);
  for (int t = 0; t < words.count(); ++t) {
    typename Words::Source random(words, t);
    lengths[t] = complete[t] ? drafts : drafter.draw(distributions, drafts, random, out + t * stride);
  }
}

// Draws without replacement for the trials of a batch, draft by draft over all trials: the tokens of
// CumulativeTable::draw_without for each trial, with the cache misses of all trials overlapping.
//
//   removed    intervals of the tokens drawn so far, ascending; at and mass of each
//   left       row_total less their masses
//
// Cost: O(k) additions and a guided look-up for draft k, as if drawn trial by trial; but removed tokens are not sorted,
// no loop length depends on random bits, and the reads of the next loop are prefetched.
// Correctness: step_over adds an interval's mass to the drawn position `at` only if the interval starts at or before
// `at`, so it can process the whole list: later intervals start after `at` too.

class DrawsWithout {
 public:
  DrawsWithout(const AliasTable& whole, const CumulativeTable& rest) : whole_{whole}, rest_{rest} {}

  /// Writes draft k of trial t to out[t * stride + k], k < drafts, and to complete[t] whether mass was left for every
  /// draft of the trial. Calls arrived(token) for every token.
  template <class Words, class Arrived>
  void draw(int drafts, Words& words, Token* out, int stride, bool* complete, const Arrived& arrived) {
    const int trials = words.count();
    whole_.draw(words.words(Purpose::pick, 0), out, stride);
    for (int t = 0; t < trials; ++t) {
      rest_.prefetch(out[t * stride]);
      arrived(out[t * stride]);
      left_[t] = row_total;
      complete[t] = true;
    }
    for (int k = 1; k < drafts; ++k) {
      const auto word = words.words(Purpose::pick, static_cast<std::uint32_t>(k));
      for (int t = 0; t < trials; ++t) {
        remove(t, k - 1, rest_.interval(out[t * stride + k - 1]));
        complete[t] &= left_[t] > 0;
        at_[t] = step_over(t, k, scale(word[static_cast<std::size_t>(t)], left_[t]));
        at_[t] = complete[t] ? at_[t] : 0;  // no mass is left; any valid value will do
        rest_.prefetch_guide(at_[t]);
      }
      for (int t = 0; t < trials; ++t) rest_.prefetch_sums(at_[t]);
      for (int t = 0; t < trials; ++t) arrived(out[t * stride + k] = rest_.find(at_[t]));
    }
  }

 private:
  using Interval = CumulativeTable::Interval;

  /// Inserts an interval into the n ascending intervals, by masks instead of branches.
  void remove(int t, int n, Interval moved) {
    left_[t] -= moved.mass;
    Interval* const list = removed_[t];
    for (int i = 0; i < n; ++i) {
      const std::uint64_t before = std::uint64_t{0} - static_cast<std::uint64_t>(moved.at < list[i].at);
      const Interval change{(list[i].at ^ moved.at) & before, (list[i].mass ^ moved.mass) & before};
      list[i] = {list[i].at ^ change.at, list[i].mass ^ change.mass};
      moved = {moved.at ^ change.at, moved.mass ^ change.mass};
    }
    list[n] = moved;
  }
  std::uint64_t step_over(int t, int n, std::uint64_t at) const {
    const Interval* const list = removed_[t];
    for (int i = 0; i < n; ++i)
      at += list[i].mass & (std::uint64_t{0} - static_cast<std::uint64_t>(list[i].at <= at));
    return at;
  }

  const AliasTable& whole_;
  const CumulativeTable& rest_;
  std::uint64_t left_[PhiloxBatch::most], at_[PhiloxBatch::most];
  Interval removed_[PhiloxBatch::most][max_drafts];
};

}  // namespace draftproof
