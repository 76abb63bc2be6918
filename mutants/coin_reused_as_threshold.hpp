// Mutant: single-draft sampling whose accept uniform is also the threshold of the draw from the residual.
//
//   u        one uniform    after a refusal u >= a = p / q, so the draw uses only the upper part of [0, 1)
//   R        running sums of (p - q)+ / F in token order: token x is drawn for u in [R_x, R_(x+1))
//
// Source: vllm-project/vllm-ascend#16370.
// Error: after a refusal token x has the overlap of its interval with [a, 1); the branch for explorers computes this.
// Hidden: where the residual has one token.
// Smallest: p=(1 1 1)/3, q=(0 0 1) gives (1 3 2)/6, TV 1/6.
#pragma once

#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/sim/verifier.hpp>

namespace draftproof::mutants {

struct CoinReusedAsThreshold {
  static constexpr Info info{.name = "coin_reused_as_threshold",
                             .summary = "draw from the residual by the accept coin, used a second time",
                             .source = "vllm-project/vllm-ascend#16370",
                             .drafts = DraftLaws{"iid"},
                             .most_drafts = 1,
                             .claims = {.accepts_equal_laws = true, .one_draft_is_single_draft = true},
                             .derived_from = "single_draft"};

  template <Position P, RandomSource R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, R& random) const {
    const Token x = at.draft(0);
    const auto residual = at.residual(at.one());
    if constexpr (requires { random.next(Purpose::flip); }) {
      const std::uint64_t coin = random.next(Purpose::flip);
      if (unit_interval(coin) * static_cast<double>(at.proposal(x)) < static_cast<double>(at.target(x)))
        return accepted(x, 0);
      const Token left = residual.draw(coin);
      return {left != no_token ? left : at.residual(at.zero()).draw(coin), none_accepted};
    } else {
      if (random.flip(at.target(x), at.proposal(x))) return accepted(x, 0);
      using Scalar = typename P::Scalar;
      return random.emit(
          Overlaps<Scalar, decltype(residual)>{residual, at.target(x) / at.proposal(x), at.residual_mass(at.one())});
    }
  }

 private:
  /// The part of each token's interval of [0, 1) above `from`. Enumerated only, never drawn from.
  template <class Scalar, class W>
  struct Overlaps {
    const W& weights;
    Scalar from, total;

    template <class Visit>
    void for_each(Visit visit) const {
      Scalar low{0};
      weights.for_each([&](Token x, const auto& weight) {
        const Scalar high = low + weight / total;
        if (const Scalar left = high - (low < from ? from : low); left > Scalar{0}) visit(x, left);
        low = high;
      });
    }
  };
};

}  // namespace draftproof::mutants
