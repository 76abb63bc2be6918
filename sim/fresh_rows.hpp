// Laws read straight from an engine's rows: nothing is prepared, every residual mass is one read-only pass. This is
// the per-token view, and the host twin of the block-cooperative position of the CUDA kernels.
//
// Terms (p - b q)+ are formed in double and added as 64-bit integers (fixed_point.hpp); the pass keeps one partial
// sum per block of 1024 tokens, so that a draw finds its block there and reads only that block again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <draftproof/sim/fixed_point.hpp>
#include <draftproof/sim/rungs.hpp>

namespace draftproof {

/// Views on rows of V entries (float or double) that the caller keeps alive; all rows have the same length and sum
/// to 1 within the rounding of their format. One object per thread: a pass leaves its partial sums behind for the
/// draw that follows.
template <class Entry>
class FreshRows {
 public:
  using Scalar = double;
  static constexpr int block = 1024;

  FreshRows(std::span<const Entry> target, std::span<const Entry> proposal) : FreshRows(target, {proposal}, 1) {}
  FreshRows(std::span<const Entry> target, std::vector<std::span<const Entry>> proposals)
      : FreshRows(target, std::move(proposals), 1) {}

  int vocabulary() const { return static_cast<int>(target_.size()); }
  int proposals() const { return static_cast<int>(proposals_.size()); }
  double zero() const { return 0; }
  double one() const { return 1; }
  double target(Token x) const { return target_[index(x)]; }
  double proposal(Token x, int k = 0) const { return row_of(k)[index(x)]; }
  /// The rows themselves, for passes that read both at once.
  std::span<const Entry> target_row() const { return target_; }
  std::span<const Entry> proposal_row() const { return proposals_.front(); }

  double residual_mass(double b) const { return from_fixed(pass(b)); }

  auto residual(double b) const { return ResidualWeights{*this, b}; }
  auto clipped(double b, double knee) const {
    return weights(
        [this, b, knee](Token x) { return std::max(target(x) - b * std::min(proposal(x), target(x) / knee), 0.0); });
  }
  auto row(int k) const {
    return weights([this, k](Token x) { return proposal(x, k); });
  }
  auto row_without(int k, const Token* seen, int n) const {
    return weights([this, k, seen, n](Token x) { return among(x, seen, n) ? 0.0 : proposal(x, k); });
  }

  /// By subtraction while at least 1/16 is left, where it loses at most four bits; by a pass over what is left
  /// otherwise, so that an exhausted support gives exactly 0.
  double mass_without(int k, const Token* seen, int n) const {
    double left = 1;
    for (int i = 0; i < n; ++i) left -= proposal(seen[i], k);
    if (left >= 0x1p-4) return left;
    return sum([this, k, seen, n](Token x) { return among(x, seen, n) ? 0.0 : proposal(x, k); });
  }

  /// O(V j): fixed-set drafters are no part of the per-token path.
  Token top(int j) const {
    Token best = no_token;
    double bound = std::numeric_limits<double>::infinity();
    Token bound_token = no_token;
    for (int rank = 0; rank <= j; ++rank) {
      best = no_token;
      for (Token x = 0; x < vocabulary(); ++x) {
        const double q = proposal(x);
        const bool after = q < bound || (q == bound && x > bound_token);
        if (after && (best == no_token || q > proposal(best))) best = x;
      }
      bound = proposal(best);
      bound_token = best;
    }
    return best;
  }

  template <class F>
  auto sum(F f) const {
    return fixed_sum(vocabulary(), f);
  }
  template <class F>
  auto weights(F f) const {
    return FixedWeights<F>{vocabulary(), std::move(f)};
  }
  /// Nothing is kept: a draw is the pass it would be without.
  template <class F>
  auto frozen(F f) const {
    return weights(std::move(f));
  }

  /// Buckets of the ratio, by one pass.
  BucketRungs rungs() const { return BucketRungs(*this); }
  int rung(const BucketRungs& rungs, Token x) const { return rungs.of(target(x), proposal(x)); }

 private:
  FreshRows(std::span<const Entry> target, std::vector<std::span<const Entry>> proposals, int)
      : target_{target}, proposals_{std::move(proposals)}, partial_((target.size() + block - 1) / block) {}

  class ResidualWeights {
   public:
    ResidualWeights(const FreshRows& rows, double b) : rows_{rows}, b_{b} {}
    Token draw(std::uint64_t word) const { return rows_.draw_residual(b_, word); }
    template <class Visit>
    void for_each(Visit visit) const {
      for (Token x = 0; x < rows_.vocabulary(); ++x)
        if (const double weight = rows_.above(index(x), b_); weight > 0) visit(x, weight);
    }
    template <class Visit>
    void for_each_served(Visit visit) const {
      for (Token x = 0; x < rows_.vocabulary(); ++x)
        if (const Fixed weight = to_fixed(rows_.above(index(x), b_)); weight > 0) visit(x, from_fixed(weight));
    }

   private:
    const FreshRows& rows_;
    double b_;
  };

  static std::size_t index(auto x) { return static_cast<std::size_t>(x); }
  std::span<const Entry> row_of(int k) const { return proposals_[proposals_.size() == 1 ? 0 : index(k)]; }
  double above(std::size_t x, double b) const {
    return std::max(double{target_[x]} - b * double{proposals_.front()[x]}, 0.0);
  }

  /// One pass: the total, and the partial sums of each block.
  Fixed pass(double b) const {
    if (b == passed_) return total_;
    total_ = 0;
    for (std::size_t start = 0, i = 0; start < target_.size(); start += block, ++i) {
      const std::size_t end = std::min(start + block, target_.size());
      Fixed sum = 0;
      for (std::size_t x = start; x < end; ++x) sum += to_fixed(above(x, b));
      partial_[i] = sum;
      total_ += sum;
    }
    passed_ = b;
    return total_;
  }

  Token draw_residual(double b, std::uint64_t word) const {
    const Fixed total = pass(b);
    if (total <= 0) return no_token;
    auto left = static_cast<Fixed>(scale(word, static_cast<std::uint64_t>(total)));
    std::size_t i = 0;
    while (left >= partial_[i]) left -= partial_[i++];
    std::size_t x = i * block;
    while ((left -= to_fixed(above(x, b))) >= 0) ++x;
    return static_cast<Token>(x);
  }

  std::span<const Entry> target_;
  std::vector<std::span<const Entry>> proposals_;
  mutable std::vector<Fixed> partial_;
  mutable Fixed total_ = 0;
  mutable double passed_ = -1;  ///< the b of the partial sums; b is never negative
};

}  // namespace draftproof
