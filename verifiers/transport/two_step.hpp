// The second half of two-step verification: one draft was selected by some rule, the law of the selected draft is
// known, and the draft is verified as a single draft of that law.
//
//   p_I(x)   law[x]         probability that the selected draft is x, over drafts and selection
//   r        residual       weights (p - p_I)+
//            nothing_left   whether r is 0 everywhere
//
// Cost: one pass for the residual, one flip a trial.
// Source: Khisti et al., arXiv:2410.18234.
// Correctness: it is single-draft sampling with draft law p_I, for every rule of selection with this law.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <draftproof/sim/verifier.hpp>

namespace draftproof {

template <class L>
class SelectedDraft {
 public:
  using Scalar = typename L::Scalar;

  /// `law` is p_I by token. Drafts that are drawn from this many proposals name their number: where each of these is p
  /// the first draft is accepted, since p_I misses p by its rounding and some drafts would be refused for it.
  SelectedDraft(const L& laws, std::vector<Scalar> law, int proposals = 0)
      : all_equal_{all_equal(laws, proposals)},
        law_{std::make_shared<const std::vector<Scalar>>(std::move(law))},
        residual_{residual_of(laws, law_)} {
    for (Token x = 0; nothing_left_ && x < laws.vocabulary(); ++x) nothing_left_ = !(laws.target(x) > of(x));
  }

  /// p_I(x).
  const Scalar& of(Token x) const { return (*law_)[static_cast<std::size_t>(x)]; }

  /// `x` is the selected token and must be among the drafts.
  template <class P, class R>
  Verdict verify(const P& at, Token x, R& random) const {
    if (all_equal_) return accepted(at.draft(0), 0);
    if (random.flip(at.target(x), of(x))) return accepted(x, find_draft(at, x));
    return refuse(at, x, random);
  }
  /// The verdict after a flip that refused x.
  template <class P, class R>
  Verdict refuse(const P& at, Token x, R& random) const {
    if (!nothing_left_) return random.emit(residual_);
    // Only by rounding. The target may still not have x, whose part of p_I is rounding then.
    return at.target(x) > at.zero() ? accepted(x, find_draft(at, x)) : random.emit(at.residual(at.zero()));
  }

 private:
  using Shared = std::shared_ptr<const std::vector<Scalar>>;

  static bool all_equal(const L& laws, int proposals) {
    for (Token x = 0; x < laws.vocabulary(); ++x)
      for (int k = 0; k < proposals; ++k)
        if (laws.proposal(x, k) != laws.target(x)) return false;
    return proposals > 0;
  }

  static auto residual_of(const L& laws, const Shared& law) {
    return laws.alias_weights([&laws, law](Token x) -> Scalar {
      const Scalar left = laws.target(x) - (*law)[static_cast<std::size_t>(x)];
      return left > laws.zero() ? left : laws.zero();
    });
  }

  bool all_equal_;
  Shared law_;
  bool nothing_left_ = true;
  decltype(residual_of(std::declval<const L&>(), law_)) residual_;
};

}  // namespace draftproof
