// Mutant: drafts come from q; the verifier gets q at another temperature, q^(1/T) normalised with T = 1/2, and is
// correct for that law.
//
//   p        at.target(x)     target probability of token x
//   q        at.proposal(x)   probability the draft was drawn with
//   q'       q q / S          proposal that the verifier assumes; S is the sum of q^2
//
// Cost: a pass for S, one flip, a pass after a refusal.
// Source: the family of vllm-project/vllm#9834, where a law was computed at another temperature than the request's.
// Error: it serves min(p, q') q / q', not min(p, q').
// Hidden: where q is flat on its support.
#pragma once

#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/rejection/last_draw.hpp>

namespace draftproof::mutants {

struct TemperatureMismatch {
  static constexpr Info info{.name = "temperature_mismatch",
                             .summary = "drafts of q verified as if drawn from q at temperature 1/2",
                             .source = "family of vllm-project/vllm#9834; rule of arXiv:2211.17192",
                             .drafts = DraftLaws{"iid"},
                             .most_drafts = 1,
                             .derived_from = "single_draft"};

  template <Laws L>
  DRAFTPROOF_DEVICE typename L::Scalar prepare(const L& laws, int) const {
    return laws.sum([&laws](Token x) { return laws.proposal(x) * laws.proposal(x); });
  }

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, const typename P::Scalar& squares, R& random) const {
    using Scalar = typename P::Scalar;
    const auto left = [&at, squares](Token x) -> Scalar {  // S (p - q')
      const Scalar weight = at.target(x) * squares - at.proposal(x) * at.proposal(x);
      return weight > at.zero() ? weight : at.zero();
    };
    const Token x = at.draft(0);
    if (random.flip(at.target(x) * squares, at.proposal(x) * at.proposal(x))) return accepted(x, 0);
    return last_draw(at, random, at.weights(left));
  }
};

}  // namespace draftproof::mutants
