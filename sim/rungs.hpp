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
#include <bit>
#include <cstdint>
#include <numeric>
#include <vector>

#include <draftproof/sim/fixed_point.hpp>

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
    for (std::size_t i = 0; i < order.size(); ++i) rung_[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
  }

  int size() const { return static_cast<int>(target_.size()) - 1; }
  const Scalar& target_below(int i) const { return target_[static_cast<std::size_t>(i)]; }
  const Scalar& proposal_below(int i) const { return proposal_[static_cast<std::size_t>(i)]; }
  int of(Token x) const { return rung_[static_cast<std::size_t>(x)]; }

 private:
  std::vector<int> rung_;
  std::vector<Scalar> target_, proposal_;
};

/// Buckets of equal steps of the ratio's float representation: `fine` per octave between 2^-octaves and 2^octaves,
/// the outer buckets open. One pass over the rows; masses are fixed-point sums.
class BucketRungs {
 public:
  static constexpr bool single_tokens = false;
  static constexpr int fine_bits = 6, octaves = 8;
  static constexpr int buckets = 2 * octaves << fine_bits;

  template <class Rows>
  explicit BucketRungs(const Rows& rows) : rung_(buckets, -1) {
    std::vector<Fixed> p(buckets), q(buckets);
    Fixed undraftable = 0;
    for (Token x = 0; x < rows.vocabulary(); ++x) {
      const double target = rows.target(x), proposal = rows.proposal(x);
      if (proposal > 0) {
        const auto bucket = static_cast<std::size_t>(bucket_of(target, proposal));
        p[bucket] += to_fixed(target);
        q[bucket] += to_fixed(proposal);
      } else {
        undraftable += to_fixed(target);
      }
    }
    // Buckets come in the order of the ratios of their tokens, hence of their masses.
    Fixed target = undraftable, proposal = 0;
    target_.push_back(from_fixed(target));
    proposal_.push_back(0);
    for (int bucket = buckets; bucket-- > 0;) {
      const auto i = static_cast<std::size_t>(bucket);
      rung_[i] = size();  // of an empty bucket too: a token whose mass vanished in fixed point has a place
      if (q[i] == 0) continue;
      target += p[i];
      target_.push_back(from_fixed(target));
      proposal += q[i];
      proposal_.push_back(from_fixed(proposal));
    }
    for (int& rung : rung_) rung = std::min(rung, size() - 1);
    target_.back() = proposal_.back() = 1;  // the truncation of V terms, below V 2^-60, goes to the last rung
  }

  int size() const { return static_cast<int>(target_.size()) - 1; }
  double target_below(int i) const { return target_[static_cast<std::size_t>(i)]; }
  double proposal_below(int i) const { return proposal_[static_cast<std::size_t>(i)]; }
  int of(double target, double proposal) const {
    return rung_[static_cast<std::size_t>(bucket_of(target, proposal))];
  }

 private:
  /// The top bits of the float p / q: monotone in the ratio, equal steps within an octave.
  static int bucket_of(double target, double proposal) {
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(target / proposal));
    const int step = static_cast<int>(bits >> (23 - fine_bits)) - ((127 - octaves) << fine_bits);
    return std::clamp(step, 0, buckets - 1);
  }

  std::vector<int> rung_;
  std::vector<double> target_, proposal_;
};

}  // namespace draftproof
