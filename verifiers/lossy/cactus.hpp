// Raises the target probability of the drafted token, lowers the others in proportion, and verifies the draft against
// that distribution by single-draft sampling. Lossy by design: every drafted token is raised, whichever was drafted.
// The difference does not show at p = q, where nothing is refused. The residual is a reconstruction, because the
// published rule was not available.
//
//   d        divergence       how far a step may move p
//   g        raised           min(1, p(x) + sqrt(2 d p(x) (1 - p(x)))), x the draft
//   s        scale            (1 - g) / (1 - p(x)), factor of every other token
//
// Cost: one flip; one pass after a refusal.
// Source: the Cactus rule, reconstructed.
#pragma once

#include <cmath>

#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/rejection/residual_chain.hpp>

namespace draftproof::verifiers::lossy {

struct Cactus {
  static constexpr Info info{.name = "cactus",
                             .summary = "raise p of the draft within a bound on the divergence, then test the draft",
                             .source = "Cactus; residual reconstructed here",
                             .drafts = DraftSamplings{"iid"},
                             .promise = Promise::lossy,
                             .most_drafts = 1,
                             .derived_from = "single_draft"};

  double divergence = 0.1;

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    using Scalar = typename P::Scalar;
    const Token x = at.draft(0);
    const Scalar p = at.target(x), rest = at.one() - p;
    const double variance = static_cast<double>(p) * static_cast<double>(rest);
    const Scalar lifted = p + Scalar(std::sqrt(2 * divergence * variance));
    const Scalar raised = lifted < at.one() ? lifted : at.one();
    if (random.flip(raised, at.proposal(x))) return accepted(x, 0);
    // A refusal has g < q(x) <= 1, so s is positive. s p - q is s times the residual (p - q / s), in which the draft
    // itself has no part: p(x) <= g < q(x) <= q(x) / s.
    return last_draw(at, random, at.residual(rest / (at.one() - raised)));
  }
};

}  // namespace draftproof::verifiers::lossy
