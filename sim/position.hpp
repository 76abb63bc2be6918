// The input of drafters and verifiers. `Distributions` are the target and proposal distributions at a position; a
// `Position` is distributions plus the drafts proposed there. Drafters read distributions, verifiers read a position,
// and both are templates over the type of the distributions.
//
//   symbol   code                                 returns                                              shape
//   V        distributions.vocabulary()           number of tokens                                     int
//   p(x)     distributions.target(x)              target probability                                   scalar
//   q(x)     distributions.proposal(x)            proposal probability; proposal(x, k): of draft k     scalar
//   F(b)     distributions.residual_mass(b)       sum over the vocabulary of (p - b q)+                scalar
//   F, -F'   distributions.mass_and_slope(b)      F(b), and q-mass of the tokens with p > b q          two scalars
//   r_b      distributions.residual(b)            (p - b q)+                                           weights
//            distributions.clipped(b, c)          p - b min(q, p / c), 0 < b <= c                      weights
//            distributions.row(k)                 q_k                                                  weights
//            distributions.row_without(k, s, n)   q_k with the n distinct tokens at s set to 0         weights
//            distributions.mass_without(k, s, n)  sum of row_without(k, s, n)                          scalar
//            distributions.sum(f)                 sum of f(x) over the vocabulary; 0 <= f, total < 8   scalar
//            distributions.weights(f)             f(x)                                                 weights
//            distributions.alias_weights(f)       f(x), for a plan that many trials draw from          weights
//            tabulated(distributions, f)          weights(f) for a plan: the same draws (weights.hpp)  weights
//            distributions.bins()                 tokens or buckets by p / q descending                ratio_bins.hpp
//            distributions.bin(bins, x)           bin of token x; q(x) > 0                             int
//            distributions.ranking()              tokens by p / q descending; optional                 ratio_bins.hpp
//            distributions.kth_most_probable(j)   j-th most probable token of q, from 0; the lower     token
//                                                 id first among equals; j < min(V, max_drafts)
//   K        at.drafts()                          number of drafts                                     int
//   x_k      at.draft(k)                          k-th draft, k from 0                                 token
//
// Scalars have the type L::Scalar, where L is the type of `distributions`; zero() and one() return 0 and 1 in it.
// f(x) must be 0 if p(x) = q(x) = 0, because not all types of distributions call f for such tokens.
// On a device all threads of a block make these calls together and get the same result.
// Throws: on the host, draft(k) throws NoSuchDraft, and Rows (distributions/plain_rows.hpp) throws for a token outside the
// vocabulary; nothing else throws. A draw from weights that are all zero returns no_token.
#pragma once

#include <concepts>
#include <stdexcept>
#include <string>

#include <draftproof/sim/random_source.hpp>
#include <draftproof/sim/token.hpp>

namespace draftproof {

/// F(b) = sum of (p - b q)+, and -F'(b) = q({p > b q}), the negative slope to the right of b. Newton's method on b
/// needs both.
template <class Scalar>
struct MassAndSlope {
  Scalar mass, slope;
};

/// The calls of the table above that are required of every type of distributions. L::Scalar is the type of a mass.
template <class L>
concept Distributions = requires(const L& distributions, typename L::Scalar b, Token x, int k, const Token* seen) {
  { distributions.vocabulary() } -> std::convertible_to<int>;
  { distributions.zero() } -> std::same_as<typename L::Scalar>;
  { distributions.one() } -> std::same_as<typename L::Scalar>;
  { distributions.target(x) } -> std::convertible_to<typename L::Scalar>;
  { distributions.proposal(x) } -> std::convertible_to<typename L::Scalar>;
  { distributions.proposal(x, k) } -> std::convertible_to<typename L::Scalar>;
  { distributions.residual_mass(b) } -> std::convertible_to<typename L::Scalar>;
  { distributions.mass_and_slope(b) } -> std::same_as<MassAndSlope<typename L::Scalar>>;
  { distributions.mass_without(k, seen, k) } -> std::convertible_to<typename L::Scalar>;
  { distributions.kth_most_probable(k) } -> std::same_as<Token>;
  { distributions.residual(b) } -> Weights;
  { distributions.clipped(b, b) } -> Weights;
  { distributions.row(k) } -> Weights;
  { distributions.row_without(k, seen, k) } -> Weights;
};

/// Distributions that read rows without a prepared table. Every mass costs a pass over V, so plans for them compute few
/// masses.
template <class L>
concept FreshDistributions = Distributions<L> && L::fresh;

/// Distributions together with the drafts proposed at this position.
template <class P>
concept Position = Distributions<P> && requires(const P& at, int k) {
  { at.drafts() } -> std::convertible_to<int>;
  { at.draft(k) } -> std::same_as<Token>;
};

/// Thrown on the host if a verifier reads a draft that the position does not have: the verifier has a bug, or its `info`
/// does not declare the number of drafts that it requires.
class NoSuchDraft : public std::logic_error {
 public:
  NoSuchDraft(int k, int drafts)
      : std::logic_error("at.draft(" + std::to_string(k) + ") of a position with " + std::to_string(drafts) +
                         (drafts == 1 ? " draft" : " drafts") +
                         "; a verifier that requires more has Info::fewest_drafts") {}
};

/// Throws: NoSuchDraft. Not inlined, so that the check costs its caller one comparison.
[[noreturn, gnu::cold, gnu::noinline]] inline void throw_no_such_draft(int k, int drafts) {
  throw NoSuchDraft(k, drafts);
}

/// Distributions plus an array of drafts: the Position that verifiers get. It refers to both without owning them, and
/// forwards every call of Distributions.
template <class L>
class DraftedPosition {
 public:
  using Scalar = typename L::Scalar;
  using Underlying = L;

  /// `drafts` holds `count` tokens; distributions and drafts must outlive the position.
  DRAFTPROOF_DEVICE DraftedPosition(const L& distributions, const Token* drafts, int count)
      : distributions_{distributions}, drafts_{drafts}, count_{count} {}

  DRAFTPROOF_DEVICE int drafts() const { return count_; }
  DRAFTPROOF_DEVICE Token draft(int k) const {
#if !defined(__CUDA_ARCH__)
    if (k < 0 || k >= count_) [[unlikely]]
      throw_no_such_draft(k, count_);
#endif
    return drafts_[k];
  }
  /// Returns a pointer to drafts() tokens.
  DRAFTPROOF_DEVICE const Token* draft_data() const { return drafts_; }
  /// The distributions without the drafts.
  DRAFTPROOF_DEVICE const L& distributions() const { return distributions_; }

  DRAFTPROOF_DEVICE int vocabulary() const { return distributions_.vocabulary(); }
  DRAFTPROOF_DEVICE Scalar zero() const { return distributions_.zero(); }
  DRAFTPROOF_DEVICE Scalar one() const { return distributions_.one(); }
  DRAFTPROOF_DEVICE decltype(auto) target(Token x) const { return distributions_.target(x); }
  DRAFTPROOF_DEVICE decltype(auto) proposal(Token x, int k = 0) const { return distributions_.proposal(x, k); }
  DRAFTPROOF_DEVICE Scalar residual_mass(const Scalar& b) const { return distributions_.residual_mass(b); }
  DRAFTPROOF_DEVICE auto mass_and_slope(const Scalar& b) const { return distributions_.mass_and_slope(b); }
  DRAFTPROOF_DEVICE auto residual(const Scalar& b) const { return distributions_.residual(b); }
  DRAFTPROOF_DEVICE auto clipped(const Scalar& b, const Scalar& clip_ratio) const {
    return distributions_.clipped(b, clip_ratio);
  }
  DRAFTPROOF_DEVICE auto row(int k) const { return distributions_.row(k); }
  DRAFTPROOF_DEVICE auto row_without(int k, const Token* seen, int n) const {
    return distributions_.row_without(k, seen, n);
  }
  DRAFTPROOF_DEVICE Scalar mass_without(int k, const Token* seen, int n) const {
    return distributions_.mass_without(k, seen, n);
  }
  DRAFTPROOF_DEVICE Token kth_most_probable(int j) const { return distributions_.kth_most_probable(j); }
  template <class F>
  DRAFTPROOF_DEVICE auto sum(F f) const {
    return distributions_.sum(f);
  }
  template <class F>
  DRAFTPROOF_DEVICE auto weights(F f) const {
    return distributions_.weights(f);
  }

 private:
  const L& distributions_;
  const Token* drafts_;
  int count_;
};

}  // namespace draftproof
