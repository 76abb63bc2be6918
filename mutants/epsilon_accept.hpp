// Mutant: single-draft sampling that keeps a draft without a test where p and q differ by less than a tenth.
//
//   e        1 / parts           smallest difference that is tested
//
// Cost: one flip, a draw after a refusal.
// Source: mlc-ai/mlc-llm#2236, on purpose there.
// Error: the difference is small wherever both probabilities are, so rare tokens are emitted as often as q drafts
// them.
// Hidden: at p = q, and where no drafted token's p is below its q by less than the difference.
// Smallest: p = (1 2)/3, q = (1 3)/4: law (1 3)/4, TV 1/12.
#pragma once

#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/rejection/last_draw.hpp>

namespace draftproof::mutants {

struct EpsilonAccept {
  static constexpr Info info{.name = "epsilon_accept",
                             .summary = "keep the draft untested where p and q differ by less than 0.1",
                             .source = "mlc-ai/mlc-llm#2236",
                             .drafts = DraftLaws{"iid"},
                             .most_drafts = 1,
                             .derived_from = "single_draft"};

  int parts = 10;

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    using Scalar = typename P::Scalar;
    const Token x = at.draft(0);
    const Scalar p = at.target(x), q = at.proposal(x);
    const Scalar apart = p > q ? Scalar(p - q) : Scalar(q - p);
    if (apart * Scalar(parts) < at.one() || random.flip(p, q)) return accepted(x, 0);
    return last_draw(at, random, at.residual(at.one()));
  }
};

}  // namespace draftproof::mutants
