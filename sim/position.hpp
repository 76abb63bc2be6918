// How a program looks at one decision. `Laws` are the target and proposal laws at a position, in whatever form an
// interpreter keeps them; a `Position` is laws plus the drafts proposed there. Drafters read laws, verifiers a
// position; neither knows which model of the concept it runs on.
//
//   symbol   code                       meaning                                              shape
//   V        laws.vocabulary()          number of tokens                                     int
//   p(x)     laws.target(x)             target probability                                   scalar
//   q(x)     laws.proposal(x)           proposal probability; proposal(x, k) of draft k      scalar
//   F(b)     laws.residual_mass(b)      sum over the vocabulary of (p - b q)+                scalar
//   F, -F'   laws.mass_and_slope(b)     F(b), and q-mass of the tokens with p > b q          two scalars
//   r_b      laws.residual(b)           weights (p - b q)+                                   weights
//            laws.clipped(b, clip_ratio)      weights p - b min(q, p / clip_ratio), 0 < b <= clip_ratio        weights
//            laws.row(k)                weights q_k                                          weights
//            laws.row_without(k, s, n)  weights q_k with the n distinct tokens at s set to 0 weights
//            laws.mass_without(k, s, n) sum of the above                                     scalar
//            laws.sum(f)                sum of f(x) over the vocabulary; 0 <= f, total < 8   scalar
//            laws.weights(f)            weights f(x)                                         weights
//            laws.alias_weights(f)             the same for a plan: kept where trials are many      weights
//            tabulated(laws, f)            weights(f) for a plan, with its draws (tabled_weights)  weights
//            laws.bins()               tokens or buckets by p / q descending (bins.hpp)    bins
//            laws.bin(bins, x)        bin of token x; q(x) > 0                            int
//            laws.ranking()             tokens by p / q descending (token_ranking.hpp)           optional
//            laws.kth_most_probable(j)                j-th most probable token of q, ties to the lower id  token
//   K        at.drafts()                number of drafts at hand                             int
//   x_k      at.draft(k)                k-th draft, k from 0                                 token
//
// Every model calls f on all tokens or only on those where p or q is positive; f must be 0 elsewhere.
// On a device all threads of a block call these together and get the same answer.
#pragma once

#include <concepts>

#include <draftproof/sim/random_source.hpp>
#include <draftproof/sim/token.hpp>

namespace draftproof {

// A point of the curve of residuals and how steeply it falls there: what Newton's method on b needs.

/// F(b) = sum of (p - b q)+, and -F'(b) = q({p > b q}), the slope to the right of b.
template <class Scalar>
struct MassAndSlope {
  Scalar mass, slope;
};

template <class L>
concept Laws = requires(const L& laws, typename L::Scalar b, Token x, int k, const Token* seen) {
  { laws.vocabulary() } -> std::convertible_to<int>;
  { laws.zero() } -> std::same_as<typename L::Scalar>;
  { laws.one() } -> std::same_as<typename L::Scalar>;
  { laws.target(x) } -> std::convertible_to<typename L::Scalar>;
  { laws.proposal(x) } -> std::convertible_to<typename L::Scalar>;
  { laws.proposal(x, k) } -> std::convertible_to<typename L::Scalar>;
  { laws.residual_mass(b) } -> std::convertible_to<typename L::Scalar>;
  { laws.mass_and_slope(b) } -> std::same_as<MassAndSlope<typename L::Scalar>>;
  { laws.mass_without(k, seen, k) } -> std::convertible_to<typename L::Scalar>;
  { laws.kth_most_probable(k) } -> std::same_as<Token>;
  { laws.residual(b) } -> Weights;
  { laws.clipped(b, b) } -> Weights;
  { laws.row(k) } -> Weights;
  { laws.row_without(k, seen, k) } -> Weights;
};

/// Laws met once, whose every mass is a pass over V: plans settle for few of them.
template <class L>
concept FreshLaws = Laws<L> && L::fresh;

template <class P>
concept Position = Laws<P> && requires(const P& at, int k) {
  { at.drafts() } -> std::convertible_to<int>;
  { at.draft(k) } -> std::same_as<Token>;
};

/// Laws with drafts: the model of Position the framework hands to verifiers. Refers to both, owns neither.
template <class L>
class DraftedPosition {
 public:
  using Scalar = typename L::Scalar;
  using Underlying = L;

  DRAFTPROOF_DEVICE DraftedPosition(const L& laws, const Token* drafts, int count) : laws_{laws}, drafts_{drafts}, count_{count} {}

  DRAFTPROOF_DEVICE int drafts() const { return count_; }
  DRAFTPROOF_DEVICE Token draft(int k) const { return drafts_[k]; }
  DRAFTPROOF_DEVICE const Token* draft_data() const { return drafts_; }
  DRAFTPROOF_DEVICE const L& laws() const { return laws_; }

  DRAFTPROOF_DEVICE int vocabulary() const { return laws_.vocabulary(); }
  DRAFTPROOF_DEVICE Scalar zero() const { return laws_.zero(); }
  DRAFTPROOF_DEVICE Scalar one() const { return laws_.one(); }
  DRAFTPROOF_DEVICE decltype(auto) target(Token x) const { return laws_.target(x); }
  DRAFTPROOF_DEVICE decltype(auto) proposal(Token x, int k = 0) const { return laws_.proposal(x, k); }
  DRAFTPROOF_DEVICE Scalar residual_mass(const Scalar& b) const { return laws_.residual_mass(b); }
  DRAFTPROOF_DEVICE auto mass_and_slope(const Scalar& b) const { return laws_.mass_and_slope(b); }
  DRAFTPROOF_DEVICE auto residual(const Scalar& b) const { return laws_.residual(b); }
  DRAFTPROOF_DEVICE auto clipped(const Scalar& b, const Scalar& clip_ratio) const { return laws_.clipped(b, clip_ratio); }
  DRAFTPROOF_DEVICE auto row(int k) const { return laws_.row(k); }
  DRAFTPROOF_DEVICE auto row_without(int k, const Token* seen, int n) const { return laws_.row_without(k, seen, n); }
  DRAFTPROOF_DEVICE Scalar mass_without(int k, const Token* seen, int n) const {
    return laws_.mass_without(k, seen, n);
  }
  DRAFTPROOF_DEVICE Token kth_most_probable(int j) const { return laws_.kth_most_probable(j); }
  template <class F>
  DRAFTPROOF_DEVICE auto sum(F f) const {
    return laws_.sum(f);
  }
  template <class F>
  DRAFTPROOF_DEVICE auto weights(F f) const {
    return laws_.weights(f);
  }

 private:
  const L& laws_;
  const Token* drafts_;
  int count_;
};

}  // namespace draftproof
