// Accepts with probability min(1, p / (l q)) for a lenience l < 1, and keeps the lossless residual. Lossy by design:
// accepted drafts emit more than min(p, q). The difference does not show at p = q.
//
//   l        lenience
//
// Cost: one flip; one pass after a refusal.
// Source: the lenience of Leviathan et al. 2023, arXiv:2211.17192, appendix.
#pragma once

#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/rejection/residual_chain.hpp>

namespace draftproof::verifiers::lossy {

struct Lenience {
  static constexpr Info info{.name = "lenience",
                             .summary = "accept with min(1, p / (l q)), residual unchanged",
                             .source = "Leviathan et al. 2023, arXiv:2211.17192, appendix",
                             .drafts = DraftSamplings{"iid"},
                             .promise = Promise::lossy,
                             .most_drafts = 1,
                             .derived_from = "single_draft"};

  double lenience = 0.5;

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    const Token x = at.draft(0);
    if (random.flip(at.target(x), typename P::Scalar(lenience) * at.proposal(x))) return accepted(x, 0);
    return last_draw(at, random, at.residual(at.one()));
  }
};

}  // namespace draftproof::verifiers::lossy
