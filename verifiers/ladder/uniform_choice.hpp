// The draft that a ladder selects: one of those in the group of the highest drafted ratio, chosen uniformly.
//
// Cost: O(K), and a search among the levels.
#pragma once

#include <draftproof/sim/token.hpp>
#include <draftproof/verifiers/ladder/levels.hpp>

namespace draftproof {

/// Index of the selected draft. `core.bin(laws, x)` is the bin of a token, `core.levels` the levels between bins.
template <class P, class Core, class R>
DRAFTPROOF_DEVICE int choose_in_top_group(const P& at, const Core& core, R& random) {
  const auto& laws = at.laws();
  int best = 0;
  for (int k = 1; k < at.drafts(); ++k)
    if (core.bin(laws, at.draft(k)) < core.bin(laws, at.draft(best))) best = k;
  const int top = core.bin(laws, at.draft(best));
  const auto u = core.levels.draw(random);
  int group[max_drafts], size = 0;
  for (int k = 0; k < at.drafts(); ++k)
    if (core.levels.together(top, core.bin(laws, at.draft(k)), u)) group[size++] = k;
  return size == 1 ? group[0] : group[random.pick(UniformIndex{size})];
}

}  // namespace draftproof
