// Mutant: single-draft sampling with the residual clamped from below by the smallest positive number, so that a
// residual without mass is uniform over all tokens. The ratio is a product with 1 / q, which may round below 1 at p =
// q.
//
//   tiny     smallest normal number of the scalar     0 in fractions: nothing is clamped there
//
// Source: vllm-project/vllm#2336.
// Error: 2^-1022 in double; an explorer finds it exact.
// Visible: with a uniform of 0, which draws the first token whatever its weight, and after a refusal at p = q.
// Smallest: p=(0 1), q=(1 0), all uniforms 0.
#pragma once

#include <limits>

#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/sim/verifier.hpp>

namespace draftproof::mutants {

struct ZeroResidualBecomesUniform {
  static constexpr Info info{.name = "zero_residual_becomes_uniform",
                             .summary = "clamp the residual from below, so that an empty one is uniform",
                             .source = "vllm-project/vllm#2336",
                             .drafts = DraftLaws{"iid"},
                             .most_drafts = 1,
                             .claims = {.accepts_equal_laws = true, .one_draft_is_single_draft = true},
                             .derived_from = "single_draft"};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    using Scalar = typename P::Scalar;
    const Token x = at.draft(0);
    if (keeps(at.target(x), at.proposal(x), random)) return accepted(x, 0);
    return random.emit(
        at.weights([&at](Token y) -> Scalar { return clamped(Scalar(at.target(y) - at.proposal(y))); }));
  }

 private:
  template <class Scalar>
  static constexpr Scalar tiny = std::numeric_limits<Scalar>::min();

  template <class Scalar>
  DRAFTPROOF_DEVICE static Scalar clamped(const Scalar& left) {
    if constexpr (std::numeric_limits<Scalar>::has_infinity)
      return left > tiny<Scalar> ? left : Scalar(tiny<Scalar>);
    else
      return left > Scalar{0} ? left : Scalar{0};
  }
  template <class Scalar, class R>
  DRAFTPROOF_DEVICE static bool keeps(const Scalar& p, const Scalar& q, R& random) {
    if constexpr (requires { random.next(Purpose::flip); })
      return unit_interval(random.next(Purpose::flip)) < static_cast<double>(p) * (1 / static_cast<double>(q));
    else
      return random.flip(p, q);
  }
};

}  // namespace draftproof::mutants
