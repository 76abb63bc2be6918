// Mutant: single-draft sampling whose residual draw compares a float uniform with float running sums, and returns the
// last id if rounding leaves the uniform above all sums.
//
//   u        24 bits, the largest 1 - 2^-24
//   sum      of (p - q)+ (1 / F) in float, left to right     may end at 1 - 2^-24 or below: no sum is above u
//
// Source: sgl-project/sglang#22643.
// Error: the rounding of products and sums goes to token V - 1, whatever its weight; an explorer finds it exact.
// Visible: with the largest uniform, if accepted drafts leave no residual at token V - 1.
#pragma once

#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/sim/verifier.hpp>

namespace draftproof::mutants {

struct FallbackToLastId {
  static constexpr Info info{.name = "fallback_to_last_id",
                             .summary = "emit the last id when float running sums end below the uniform",
                             .source = "sgl-project/sglang#22643",
                             .drafts = DraftLaws{"iid"},
                             .most_drafts = 1,
                             .claims = {.accepts_equal_laws = true, .one_draft_is_single_draft = true},
                             .unsupported = {.device = "its draw scans the vocabulary in one thread"},
                             .derived_from = "single_draft"};

  template <Position P, RandomSource R>
  Verdict verify(const P& at, R& random) const {
    const Token x = at.draft(0);
    if (random.flip(at.target(x), at.proposal(x))) return accepted(x, 0);
    const auto residual = at.residual(at.one());
    return random.emit(
        FloatSums<decltype(residual)>{residual, at.vocabulary(), static_cast<double>(at.residual_mass(at.one()))});
  }

 private:
  template <class W>
  struct FloatSums {
    const W& weights;
    int vocabulary;
    double total;

    Token draw(std::uint64_t word) const {
      const float u = static_cast<float>(word >> 40) * 0x1p-24f, scale = 1 / static_cast<float>(total);
      float sum = 0;
      Token drawn = no_token;
      weights.for_each([&](Token x, const auto& weight) {
        sum += static_cast<float>(weight) * scale;
        if (drawn == no_token && u < sum) drawn = x;
      });
      return drawn == no_token ? vocabulary - 1 : drawn;
    }
    template <class Visit>
    void for_each(Visit visit) const {
      weights.for_each(visit);
    }
  };
};

}  // namespace draftproof::mutants
