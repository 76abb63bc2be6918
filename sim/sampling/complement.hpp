// Laws outside a set of tokens: the uniform law outside the set, and the pair that remains of (p, q) outside the
// support of q.
#pragma once

#include <draftproof/sim/sampling/function_weights.hpp>

namespace draftproof {

/// Equal weights on the V - n tokens outside the n distinct ones at `seen`.
class UniformOnComplement {
 public:
  DRAFTPROOF_DEVICE UniformOnComplement(int vocabulary, const Token* seen, int n)
      : vocabulary_{vocabulary}, seen_{seen}, n_{n} {}

  DRAFTPROOF_DEVICE Token draw(std::uint64_t word) const {
    if (vocabulary_ <= n_) return no_token;
    auto rank = static_cast<Token>(scale(word, static_cast<std::uint64_t>(vocabulary_ - n_)));
    // The rank-th token outside: count the seen tokens at or below a candidate until it stops moving. n is small.
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

/// The pair (p restricted to q = 0 and normalised, uniform on q = 0) at a position whose first `used` drafts
/// exhausted the support of q. It is a Position, so a verifier runs on it unchanged. It uses general passes only,
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
  /// Number of tokens with q = 0, an integer that every scalar represents exactly.
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

}  // namespace draftproof
