// Mutant: single-draft sampling with 32-bit uniforms converted to float: the largest of them round to 1.
//
//   u        (float) word 2^-32     1 for 128 of 2^32 words; a draft with p = q is then refused
//
// Source: sgl-project/sglang#30822, found in review.
// Error: an explorer finds it exact, and it is too rare for samples. After such a refusal the residual is empty and
// the draw has no weights.
// Smallest: p = q on one token, u = 1.
#pragma once

#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/sim/verifier.hpp>

namespace draftproof::mutants {

struct CoinCanBeOne {
  static constexpr Info info{.name = "coin_can_be_one",
                             .summary = "accept coins of 32 bits as floats, of which the largest are 1",
                             .source = "sgl-project/sglang#30822, found in review",
                             .drafts = DraftLaws{"iid"},
                             .most_drafts = 1,
                             .claims = {.accepts_equal_laws = true, .one_draft_is_single_draft = true},
                             .derived_from = "single_draft"};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    const Token x = at.draft(0);
    if (keeps(at.target(x), at.proposal(x), random)) return accepted(x, 0);
    return random.emit(at.residual(at.one()));
  }

 private:
  template <class Scalar, class R>
  DRAFTPROOF_DEVICE static bool keeps(const Scalar& p, const Scalar& q, R& random) {
    if constexpr (requires { random.next(Purpose::flip); }) {
      const auto word = static_cast<std::uint32_t>(random.next(Purpose::flip) >> 32);
      return static_cast<double>(static_cast<float>(word) * 0x1p-32f) * static_cast<double>(q) <
             static_cast<double>(p);
    } else {
      return random.flip(p, q);
    }
  }
};

}  // namespace draftproof::mutants
