// Rows of one position without tables: plain vectors in any scalar (Rows), rows normalised from a coarse format
// (NormalisedRows), and rows from logits (LogitRows). Also a count of passes over the vocabulary.
//
// Rows holds target and proposals as vectors in any scalar: rationals for proofs, double and float for the exact
// distribution of the floating-point program. Every call costs O(V).
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <draftproof/sim/distributions/ratio_bins.hpp>
#include <draftproof/sim/distributions/softmax.hpp>
#include <draftproof/sim/distributions/stored_row.hpp>
#include <draftproof/sim/distributions/streamed_rows.hpp>
#include <draftproof/sim/position.hpp>
#include <draftproof/sim/sampling/weights.hpp>
#include <draftproof/sim/sampling/without_replacement.hpp>
#include <draftproof/sim/token.hpp>

namespace draftproof {

// A count of the tokens that calls of a ratio table read in passes over the vocabulary; look-ups and searches do not
// count. A gate chooses its number of trials by this cost of a trial.

/// Returns the number of tokens that passes of this thread have read.
inline std::uint64_t& tokens_passed() {
  thread_local std::uint64_t tokens = 0;
  return tokens;
}

/// FixedWeights whose draws are counted as passes.
template <class F>
class PassWeights : public FixedWeights<F> {
 public:
  PassWeights(int size, F f) : FixedWeights<F>(size, std::move(f)), size_{size} {}
  Token draw(std::uint64_t word) const {
    tokens_passed() += static_cast<std::uint64_t>(size_);
    return FixedWeights<F>::draw(word);
  }

 private:
  int size_;
};

// The rows of one position from probabilities in a coarse format, checked and normalised. They are for bf16 or fp16
// rows, whose sums differ from 1 so far that results would change (docs/rows.md).
//
//   p, q     of(...)    float(x_i / s), s the sum of the stored row (stored_row.hpp)     [V] each
//
// Cost: two reads of each stored row, the second from cache, and 4 V bytes of memory for each row, reused by every
// call.
// Correctness: drafts drawn in proportion to the stored q have the normalised q as their distribution. The sums of p
// and q differ from 1 no more than the sum of any row that is rounded to float.

class NormalisedRows {
 public:
  explicit NormalisedRows(int vocabulary, int proposals = 1)
      : rows_(static_cast<std::size_t>(1 + proposals), std::vector<float>(static_cast<std::size_t>(vocabulary))) {}

  /// Returns views on this object's memory, valid until the next call. All rows have V entries.
  /// Throws: std::invalid_argument on a row that is not a distribution in its format.
  template <class Entry>
  FreshRows<float> of(std::span<const Entry> target, std::span<const Entry> proposal) {
    return of(target, std::vector{proposal});
  }
  template <class Entry>
  FreshRows<float> of(std::span<const Entry> target, const std::vector<std::span<const Entry>>& proposals) {
    assert(proposals.size() + 1 == rows_.size());
    fill(rows_.front(), target, "target row");
    std::vector<std::span<const float>> views;
    for (std::size_t k = 0; k < proposals.size(); ++k) {
      fill(rows_[k + 1], proposals[k], "row of proposal " + std::to_string(k));
      views.emplace_back(rows_[k + 1]);
    }
    return {std::span<const float>(rows_.front()), std::move(views)};
  }

 private:
  template <class Entry>
  static void fill(std::vector<float>& row, std::span<const Entry> stored, const std::string& name) {
    assert(stored.size() == row.size());
    normalise_stored(stored, checked_sum(stored, name), row.data());
  }

  std::vector<std::vector<float>> rows_;
};

/// p and one proposal row for all drafts, or one row per draft. Rows have V entries each and sum to one().
/// target(), proposal() and kth_most_probable() throw std::logic_error for a token or a rank outside the vocabulary:
/// proofs run verifiers of others, and a bug in one should be a finding.
template <class Number>
class Rows {
 public:
  using Scalar = Number;

  Rows(std::vector<Scalar> target, std::vector<std::vector<Scalar>> proposals)
      : target_{std::move(target)},
        proposals_{std::move(proposals)},
        top_{top_tokens(static_cast<int>(target_.size()), [this](Token x) -> const Scalar& { return proposal(x); })} {
  }
  Rows(std::vector<Scalar> target, std::vector<Scalar> proposal)
      : Rows(std::move(target), std::vector<std::vector<Scalar>>{std::move(proposal)}) {}

  int vocabulary() const { return static_cast<int>(target_.size()); }
  int proposals() const { return static_cast<int>(proposals_.size()); }
  Scalar zero() const { return Scalar{0}; }
  Scalar one() const { return Scalar{1}; }

  const Scalar& target(Token x) const {
    if (x < 0 || x >= vocabulary()) [[unlikely]]
      throw_outside("target", x, vocabulary());
    return target_[index(x)];
  }
  const Scalar& proposal(Token x, int k = 0) const {
    if (x < 0 || x >= vocabulary()) [[unlikely]]
      throw_outside("proposal", x, vocabulary());
    return row_of(k)[index(x)];
  }
  Token kth_most_probable(int j) const {
    if (j < 0 || j >= std::ssize(top_)) [[unlikely]]
      throw_outside("kth_most_probable", j, static_cast<int>(std::ssize(top_)));
    return top_[static_cast<std::size_t>(j)];
  }

  Scalar residual_mass(const Scalar& b) const {
    return sum([this, &b](Token x) { return above(x, b); });
  }
  MassAndSlope<Scalar> mass_and_slope(const Scalar& b) const {
    return {residual_mass(b), sum([this, &b](Token x) { return above(x, b) > Scalar{0} ? proposal(x) : Scalar{0}; })};
  }
  auto residual(const Scalar& b) const {
    return weights([this, b](Token x) { return above(x, b); });
  }
  auto clipped(const Scalar& b, const Scalar& clip_ratio) const {
    return weights([this, b, clip_ratio](Token x) -> Scalar {
      const Scalar share = target(x) / clip_ratio;
      return std::max<Scalar>(target(x) - b * std::min<Scalar>(proposal(x), share), Scalar{0});
    });
  }
  auto row(int k) const {
    return weights([this, k](Token x) { return proposal(x, k); });
  }
  auto row_without(int k, const Token* seen, int n) const {
    return weights([this, k, seen, n](Token x) { return among(x, seen, n) ? Scalar{0} : proposal(x, k); });
  }
  Scalar mass_without(int k, const Token* seen, int n) const {
    // Without `seen` the mass is exactly 1: a rounded sum may be an ulp off 1, and a test could then reject although
    // p = q.
    if (n == 0) return one();
    return sum([this, k, seen, n](Token x) { return among(x, seen, n) ? Scalar{0} : proposal(x, k); });
  }

  template <class F>
  auto sum(F f) const {
    std::decay_t<decltype(f(Token{}))> total{0};
    for (Token x = 0; x < vocabulary(); ++x) total += f(x);
    return total;
  }
  template <class F>
  auto weights(F f) const {
    return FunctionWeights<F>{vocabulary(), std::move(f)};
  }
  template <class F>
  auto alias_weights(F f) const {
    std::vector<Scalar> values;
    for (Token x = 0; x < vocabulary(); ++x) values.push_back(f(x));
    return weights([values = std::move(values)](Token x) -> const Scalar& { return values[index(x)]; });
  }

  /// Returns one bin for each token with q > 0, by descending p / q. Two tokens x, y are compared by the products
  /// p(x) q(y) and p(y) q(x), which are equal if both underflow to 0, and not by quotients. By quotients, a token with
  /// denormal q could be a group of bins by itself, and a ladder's plan, which divides by the q-mass of a group, would
  /// be infinite.
  TokenBins<Scalar> bins() const {
    return bins_by([this](Token a, Token b) { return target(a) * proposal(b) > target(b) * proposal(a); });
  }
  int bin(const TokenBins<Scalar>& bins, Token x) const { return bins.of(x); }
  /// Returns the ranking by quotients p / q and not by products as in bins(), because ratio(j) must not rise with the
  /// rank j and products of doubles may underflow where the quotients do not.
  auto ranking() const {
    return TokenRanking<Rows>(
        *this, bins_by([this](Token a, Token b) { return target(a) / proposal(a) > target(b) / proposal(b); }));
  }

 private:
  template <class Above>
  TokenBins<Scalar> bins_by(const Above& above) const {
    std::vector<Token> order;
    Scalar undraftable{0};
    for (Token x = 0; x < vocabulary(); ++x) {
      if (proposal(x) > Scalar{0})
        order.push_back(x);
      else
        undraftable += target(x);
    }
    std::stable_sort(order.begin(), order.end(), above);
    return {*this, order, undraftable};
  }
  /// Throws: std::logic_error. Not inlined, so that a check costs its caller one comparison.
  [[noreturn, gnu::cold, gnu::noinline]] static void throw_outside(const char* call, int got, int end) {
    throw std::logic_error(std::string("at.") + call + "(" + std::to_string(got) + "), expected 0 to " +
                           std::to_string(end - 1));
  }
  static std::size_t index(Token x) { return static_cast<std::size_t>(x); }
  const std::vector<Scalar>& row_of(int k) const {
    if (proposals_.size() == 1) return proposals_.front();
    if (k < 0 || k >= proposals()) [[unlikely]]
      throw_outside("row", k, proposals());
    return proposals_[static_cast<std::size_t>(k)];
  }
  Scalar above(Token x, const Scalar& b) const { return std::max<Scalar>(target(x) - b * proposal(x), Scalar{0}); }

  std::vector<Scalar> target_;
  std::vector<std::vector<Scalar>> proposals_;
  std::vector<Token> top_;
};

// The rows of one position from logits in float, bf16 or fp16, each read once. The result is FreshRows of float, so
// every verifier runs on it unchanged.
//
//   l_p, l_q   target, proposals    logits of the target and of each proposal, -infinity where masked    [V]
//   T          Temperatures         divisors of the logits
//   p, q       of(...)              softmax of l_p / T and l_q / T (softmax.hpp), in reused memory       [V]
//
// Cost: one read of the logits from memory; rows of 4 V bytes each, which a verifier's passes then read from cache.
// Correctness: a verifier is lossless for the row p; softmax.hpp bounds the distance of p from the exact softmax.
// Drafts must be drawn from the row q.

// The temperatures by which the logits of a position are divided.

struct Temperatures {
  double target = 1, proposal = 1;
};

class LogitRows {
 public:
  explicit LogitRows(int vocabulary, int proposals = 1)
      : target_(vocabulary), proposals_(static_cast<std::size_t>(proposals), Softmax(vocabulary)) {}

  /// Returns views on this object's memory, valid until the next call. All logits have V entries; the number of
  /// proposals is the constructor's.
  /// Throws: std::invalid_argument on logits that have no softmax, or on a bad temperature (softmax.hpp).
  template <class Entry>
  FreshRows<float> of(std::span<const Entry> target, std::span<const Entry> proposal, Temperatures t = {}) {
    return of(target, std::vector{proposal}, t);
  }
  template <class Entry>
  FreshRows<float> of(std::span<const Entry> target, const std::vector<std::span<const Entry>>& proposals,
                      Temperatures t = {}) {
    assert(proposals.size() == proposals_.size());
    target_.of(target, t.target, "target logits");
    std::vector<std::span<const float>> rows;
    for (std::size_t k = 0; k < proposals_.size(); ++k)
      rows.push_back(proposals_[k].of(proposals[k], t.proposal, "logits of proposal " + std::to_string(k)));
    return {target_.row(), std::move(rows)};
  }

 private:
  Softmax target_;
  std::vector<Softmax> proposals_;
};

}  // namespace draftproof
