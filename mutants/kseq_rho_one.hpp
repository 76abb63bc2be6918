// Mutant: K-SEQ without its division factor. Every draft is tested against p itself, and the residual is clipped
// where the drafts serve too much.
//
//   beta     1 - refused          sum min(p, q), the probability that one draft passes
//   gamma    served               (1 - (1 - beta)^K) / beta
//
// Cost: K flips, one draw.
// Source: rule of arXiv:2310.15141 with rho = 1.
// Error: gamma min(p, q) exceeds p where p < q; negative entries of the residual cannot be taken back.
// Hidden: at K = 1, at p = q and on disjoint supports.
// Smallest: p = (1 2)/3, q = (2 1)/3, K = 2: law (4 5)/9, TV 1/9.
#pragma once

#include <draftproof/sim/verifier.hpp>

namespace draftproof::mutants {

struct KseqRhoOne {
  static constexpr Info info{.name = "kseq_rho_one",
                             .summary = "K-SEQ with factor 1 and a clipped residual",
                             .source = "rule of arXiv:2310.15141 without its division factor",
                             .drafts = DraftLaws{"iid"},
                             .derived_from = "k_seq"};

  /// gamma as the sum of (1 - beta)^k over k < K.
  template <Laws L>
  DRAFTPROOF_DEVICE typename L::Scalar prepare(const L& laws, int drafts) const {
    const auto refused = laws.residual_mass(laws.one());  // 1 - beta
    auto served = laws.zero();
    for (int k = 0; k < drafts; ++k) served = laws.one() + refused * served;
    return served;
  }

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, const typename P::Scalar& served, R& random) const {
    using Scalar = typename P::Scalar;
    for (int k = 0; k < at.drafts(); ++k)
      if (const Token x = at.draft(k); random.flip(at.target(x), at.proposal(x))) return accepted(x, k);
    const auto left = [&at, served](Token x) -> Scalar {
      const Scalar p = at.target(x), q = at.proposal(x);
      const Scalar rest = p - served * (p < q ? p : q);
      return rest > at.zero() ? rest : at.zero();
    };
    if (at.sum(left) > at.zero()) return random.emit(at.weights(left));
    return random.emit(at.residual(at.zero()));  // all was clipped: draws from p
  }
};

}  // namespace draftproof::mutants
