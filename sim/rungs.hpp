// The vocabulary in rungs: single tokens or buckets of tokens, ordered by p / q descending. Schemes that rank drafts
// work on rungs; how fine they are is the model's business.
//
//   n        size()               number of rungs; each has q > 0
//   P_i      target_below(i)      p-mass of the first i rungs, tokens with q = 0 included from i = 0 on
//   s_i      proposal_below(i)    q-mass of the first i rungs
//            of(x)                rung of token x; q(x) > 0
//            single_tokens        every rung is one token
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <draftproof/sim/fixed_point.hpp>
#include <draftproof/sim/wide/ratio_masses.hpp>

namespace draftproof {

/// One rung per token with q > 0.
template <class Scalar>
class TokenRungs {
 public:
  static constexpr bool single_tokens = true;

  /// `order` lists the tokens with q > 0 by descending ratio; `undraftable` is the p-mass of the others.
  template <class L>
  TokenRungs(const L& laws, const std::vector<Token>& order, Scalar undraftable)
      : rung_(static_cast<std::size_t>(laws.vocabulary()), -1), target_{undraftable}, proposal_{Scalar{0}} {
    for (const Token x : order) {
      rung_[static_cast<std::size_t>(x)] = size();
      target_.push_back(target_.back() + laws.target(x));
      proposal_.push_back(proposal_.back() + laws.proposal(x));
      ratio_.push_back(laws.target(x) / laws.proposal(x));
    }
  }

  /// The same with masses at hand: entry i of `prefix` holds those of the first i tokens, undraftable included.
  template <class L, class Masses>
  TokenRungs(const L& laws, const std::vector<Token>& order, const Masses& prefix)
      : rung_(static_cast<std::size_t>(laws.vocabulary()), -1) {
    for (const auto& mass : prefix) {
      target_.push_back(mass.target);
      proposal_.push_back(mass.proposal);
    }
    for (const Token x : order) {
      rung_[static_cast<std::size_t>(x)] = static_cast<int>(ratio_.size());
      ratio_.push_back(laws.target(x) / laws.proposal(x));
    }
  }

  int size() const { return static_cast<int>(target_.size()) - 1; }
  const Scalar& target_below(int i) const { return target_[static_cast<std::size_t>(i)]; }
  const Scalar& proposal_below(int i) const { return proposal_[static_cast<std::size_t>(i)]; }
  /// p / q of each rung, which differences of the sums would lose on narrow ones.
  const std::vector<Scalar>& ratios() const { return ratio_; }
  int of(Token x) const { return rung_[static_cast<std::size_t>(x)]; }

 private:
  std::vector<int> rung_;
  std::vector<Scalar> target_, proposal_, ratio_;
};

/// Buckets of equal steps of the ratio (ratio_buckets.hpp). One pass over the rows; masses are fixed-point sums.
class BucketRungs {
 public:
  static constexpr bool single_tokens = false;
  /// Rungs are joined (ladder_goal.hpp) at this q-mass times difference in p / q, or at a quarter of it where one
  /// token counts and there is no surplus. Chosen by measurement, docs/ladder.md.
  double least_spread = 0x1p-14;

  /// `rows` shows its rows of entries, p and one q.
  template <class Rows>
  explicit BucketRungs(const Rows& rows) : BucketRungs(wide::RatioMasses(rows.target_row(), rows.proposal_row())) {}

  explicit BucketRungs(const wide::RatioMasses& masses) : rung_(RatioBuckets::count) {
    for (auto* row : {&target_, &proposal_, &ratio_}) row->reserve(RatioBuckets::count + 1);
    bucket_.reserve(RatioBuckets::count);
    // Buckets come in the order of the ratios of their tokens, hence of their masses.
    Fixed target = masses.of(RatioBuckets::outside).target, proposal = 0;
    target_.push_back(from_fixed(target));
    proposal_.push_back(0);
    for (std::size_t bucket = RatioBuckets::count; bucket-- > 0;) {
      const wide::RatioMass mass = masses.of(bucket);
      // An empty bucket too has a rung, the one above: tokens may be there whose mass vanished in fixed point.
      rung_[bucket] = std::max(size() - (mass.proposal == 0), 0);
      target += mass.target;
      if (mass.proposal == 0) {
        target_.back() = from_fixed(target);  // as good as undraftable, and above all that follow
        continue;
      }
      target_.push_back(from_fixed(target));
      proposal_.push_back(from_fixed(proposal += mass.proposal));
      ratio_.push_back(static_cast<double>(mass.target) / static_cast<double>(mass.proposal));
      bucket_.push_back(static_cast<int>(bucket));
    }
    target_.back() = proposal_.back() = 1;  // the truncation of V terms, below V 2^-60, goes to the last rung
  }

  int size() const { return static_cast<int>(target_.size()) - 1; }
  double target_below(int i) const { return target_[static_cast<std::size_t>(i)]; }
  double proposal_below(int i) const { return proposal_[static_cast<std::size_t>(i)]; }
  /// p / q of each rung, from its own masses.
  const std::vector<double>& ratios() const { return ratio_; }
  /// Bounds of p / q in the tokens of a rung.
  double highest(int i) const { return RatioBuckets::end(bucket_[static_cast<std::size_t>(i)]); }
  double lowest(int i) const { return RatioBuckets::begin(bucket_[static_cast<std::size_t>(i)]); }
  int of(double target, double proposal) const { return of_bucket(RatioBuckets::of(target, proposal)); }
  int of_bucket(std::size_t bucket) const { return rung_[bucket]; }

 private:
  std::vector<int> rung_, bucket_;
  std::vector<double> target_, proposal_, ratio_;
};

}  // namespace draftproof
