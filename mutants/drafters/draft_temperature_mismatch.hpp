// Mutant: K draws of q at temperature 1/2, q squared and normalised, declared as draws of q.
//
// Cost: one draw a draft.
// Source: family of vllm-project/vllm#9834.
// Error: likely tokens are drafted more often than the declared q says.
// Hidden: where q is flat on its support.
// Smallest: with single-draft sampling p = (1 1)/2, q = (1 2)/3: law (2 3)/5, TV 1/10.
#pragma once

#include <draftproof/sim/drafters/iid.hpp>

namespace draftproof::mutants::drafters {

struct DraftTemperatureMismatch {
  using Declared = draftproof::drafters::Iid;
  static constexpr DrafterInfo info{.name = "draft_temperature_mismatch",
                                    .summary = "draws of q at temperature 1/2, declared as draws of q",
                                    .declared_as = "iid"};

  template <Laws L, RandomSource R>
  DRAFTPROOF_DEVICE int draw(const L& laws, int drafts, R& random, Token* out) const {
    const auto sharper = laws.weights([&laws](Token x) { return laws.proposal(x) * laws.proposal(x); });
    for (int k = 0; k < drafts; ++k) out[k] = random.pick(sharper);
    return drafts;
  }
};

}  // namespace draftproof::mutants::drafters
