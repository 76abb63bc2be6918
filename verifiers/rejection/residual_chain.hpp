// The residual of p after drafts of different proposals were tested and refused one after another, in any order.
//
//   k_i      row_[i]       proposal that the i-th refused draft was tested against
//   F_i      mass_[i]      residual mass before that test; F_0 = 1
//   r_n      left(x)       residual at token x after n refusals: r_0 = p, r_(i+1) = (r_i - F_i q_(k_i))+
//
// Cost: O(n) a token, since r_n(x) is computed from p(x) and the n proposals of x and no row is kept. So a pass of
// O(n V) a refusal and one for the draw that ends the trial, vectorised up to four refusals. Works with every type of
// laws.
#pragma once

#include <draftproof/sim/sampling/function_weights.hpp>
#include <draftproof/sim/token.hpp>
#include <draftproof/verifiers/rejection/last_draw.hpp>

namespace draftproof {

template <class P>
class Refusals {
 public:
  using Scalar = typename P::Scalar;

  DRAFTPROOF_DEVICE explicit Refusals(const P& at) : at_{at} { mass_[0] = at.one(); }

  /// Number of refusals so far.
  DRAFTPROOF_DEVICE int count() const { return count_; }
  /// Residual mass after them.
  DRAFTPROOF_DEVICE const Scalar& mass() const { return mass_[count_]; }

  /// Residual at token x, not normalised.
  DRAFTPROOF_DEVICE Scalar left(Token x) const {
    Scalar left = at_.target(x);
    for (int i = 0; i < count_; ++i) left = above_zero(at_, Scalar(left - mass_[i] * at_.proposal(x, row_[i])));
    return left;
  }

  /// Records one more refusal, of a draft tested against proposal `row`. Returns whether any residual is left.
  DRAFTPROOF_DEVICE bool refuse(int row) {
    row_[count_++] = row;
    mass_[count_] = counted<0>([this](auto left) { return at_.sum(left); });
    return mass() > at_.zero();
  }
  /// The same if the residual mass after it is known.
  DRAFTPROOF_DEVICE bool refuse(int row, const Scalar& mass_left) {
    row_[count_++] = row;
    mass_[count_] = mass_left;
    return mass() > at_.zero();
  }
  /// Whether a draft was tested against proposal `row`.
  DRAFTPROOF_DEVICE bool refused(int row) const { return among(row, row_, count_); }

  /// A draw from the residual.
  template <class R>
  DRAFTPROOF_DEVICE Verdict emit(R& random) const {
    return counted<0>([this, &random](auto left) { return last_draw(at_, random, at_.weights(left)); });
  }

 private:
  /// left(x) after as many refusals as there are indices. No loop, so that passes vectorise.
  template <int... i>
  struct Left {
    const P& at;
    Scalar mass[sizeof...(i)];
    Token row[sizeof...(i)];

    DRAFTPROOF_DEVICE Scalar operator()(Token x) const {
      Scalar left = at.target(x);
      ((left = above_zero(at, Scalar(left - mass[i] * at.proposal(x, row[i])))), ...);
      return left;
    }
  };

  /// visit(left); `left` has the number of refusals as a constant if they are few.
  template <int... i, class Visit>
  DRAFTPROOF_DEVICE auto counted(const Visit& visit) const {
    constexpr int n = sizeof...(i);
    if constexpr (n <= most_counted) {
      if (count_ != n) return counted<i..., n>(visit);
      return visit(Left<i...>{at_, {mass_[i]...}, {row_[i]...}});
    } else {
      return visit([this](Token x) { return left(x); });
    }
  }

  static constexpr int most_counted = 4;

  DRAFTPROOF_DEVICE static Scalar above_zero(const P& at, const Scalar& left) {
    return left > at.zero() ? left : at.zero();
  }

  const P& at_;
  int count_ = 0;
  Token row_[max_drafts];  // indices of proposals
  Scalar mass_[max_drafts + 1];
};

}  // namespace draftproof
