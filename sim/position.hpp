// One decision as a program sees it. `Laws` are the target and proposal laws at a position; a `Position` is laws plus
// the drafts proposed there. Drafters read laws, verifiers read a position, and both are templates over the model.
//
//   symbol   code                        returns                                              shape
//   V        laws.vocabulary()           number of tokens                                     int
//   p(x)     laws.target(x)              target probability                                   scalar
//   q(x)     laws.proposal(x)            proposal probability; proposal(x, k): of draft k     scalar
//   F(b)     laws.residual_mass(b)       sum over the vocabulary of (p - b q)+                scalar
//   F, -F'   laws.mass_and_slope(b)      F(b), and q-mass of the tokens with p > b q          two scalars
//   r_b      laws.residual(b)            (p - b q)+                                           weights
//            laws.clipped(b, c)          p - b min(q, p / c), 0 < b <= c                      weights
//            laws.row(k)                 q_k                                                  weights
//            laws.row_without(k, s, n)   q_k with the n distinct tokens at s set to 0         weights
//            laws.mass_without(k, s, n)  sum of the above                                     scalar
//            laws.sum(f)                 sum of f(x) over the vocabulary; 0 <= f, total < 8   scalar
//            laws.weights(f)             f(x)                                                 weights
//            laws.alias_weights(f)       f(x), for a plan that many trials draw from          weights
//            tabulated(laws, f)          the same tokens from the same words as weights(f),   weights
//                                        for a plan (weights.hpp)
//            laws.bins()                 tokens or buckets by p / q descending                bins (ratio_bins.hpp)
//            laws.bin(bins, x)           bin of token x; q(x) > 0                             int
//            laws.ranking()              tokens by p / q descending; optional                 ratio_bins.hpp
//            laws.kth_most_probable(j)   j-th most probable token of q, from 0, j < min(V,    token
//                                        max_drafts); ties to the lower id
//   K        at.drafts()                 number of drafts                                     int
//   x_k      at.draft(k)                 k-th draft, k from 0                                 token
//
// A scalar is a probability mass in L::Scalar. `zero()` and `one()` return its constants.
// f must be 0 where p = q = 0: a model may call f on all tokens or only on those with p or q positive.
// On a device all threads of a block make these calls together and get the same result.
// Throws: nothing; a draw from weights that are all zero returns no_token.
#pragma once

#include <concepts>

#include <draftproof/sim/random_source.hpp>
#include <draftproof/sim/token.hpp>

namespace draftproof {

/// F(b) = sum of (p - b q)+, and -F'(b) = q({p > b q}), the slope to the right of b. Newton's method on b needs both.
template <class Scalar>
struct MassAndSlope {
  Scalar mass, slope;
};

/// The calls of the table above that every model has. L::Scalar is the type of a mass.
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

/// Laws read straight from rows, without preparation: every mass is a pass over V, so plans use few of them.
template <class L>
concept FreshLaws = Laws<L> && L::fresh;

/// Laws with the drafts proposed under them.
template <class P>
concept Position = Laws<P> && requires(const P& at, int k) {
  { at.drafts() } -> std::convertible_to<int>;
  { at.draft(k) } -> std::same_as<Token>;
};

/// Laws plus an array of drafts: the Position that verifiers get. Refers to both, owns neither; forwards every call
/// of Laws.
template <class L>
class DraftedPosition {
 public:
  using Scalar = typename L::Scalar;
  using Underlying = L;

  /// `drafts` holds `count` tokens; laws and drafts must outlive the position.
  DRAFTPROOF_DEVICE DraftedPosition(const L& laws, const Token* drafts, int count)
      : laws_{laws}, drafts_{drafts}, count_{count} {}

  DRAFTPROOF_DEVICE int drafts() const { return count_; }
  DRAFTPROOF_DEVICE Token draft(int k) const { return drafts_[k]; }
  /// Pointer to the drafts, drafts() tokens.
  DRAFTPROOF_DEVICE const Token* draft_data() const { return drafts_; }
  /// The laws without the drafts.
  DRAFTPROOF_DEVICE const L& laws() const { return laws_; }

  DRAFTPROOF_DEVICE int vocabulary() const { return laws_.vocabulary(); }
  DRAFTPROOF_DEVICE Scalar zero() const { return laws_.zero(); }
  DRAFTPROOF_DEVICE Scalar one() const { return laws_.one(); }
  DRAFTPROOF_DEVICE decltype(auto) target(Token x) const { return laws_.target(x); }
  DRAFTPROOF_DEVICE decltype(auto) proposal(Token x, int k = 0) const { return laws_.proposal(x, k); }
  DRAFTPROOF_DEVICE Scalar residual_mass(const Scalar& b) const { return laws_.residual_mass(b); }
  DRAFTPROOF_DEVICE auto mass_and_slope(const Scalar& b) const { return laws_.mass_and_slope(b); }
  DRAFTPROOF_DEVICE auto residual(const Scalar& b) const { return laws_.residual(b); }
  DRAFTPROOF_DEVICE auto clipped(const Scalar& b, const Scalar& clip_ratio) const {
    return laws_.clipped(b, clip_ratio);
  }
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
