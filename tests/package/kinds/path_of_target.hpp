// A user-defined verifier of paths that accepts no draft and draws a token from the target.
#pragma once

#include <draftproof/sim/info.hpp>
#include <draftproof/sim/trees/conditional_model.hpp>

namespace mine {

using namespace draftproof;

struct PathOfTarget {
  static constexpr Info info{.name = "path_of_target",
                             .summary = "accept nothing, draw one token from the target",
                             .source = "a test",
                             .drafts = DraftSamplings{"iid_paths"}};

  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    const L& distributions = at.distributions(DraftTree::root);
    return {DraftTree::root, random.emit(distributions.residual(distributions.zero()))};
  }
};

}  // namespace mine
