// A verifier of paths that accepts no draft: a token from the target after the context.
#pragma once

#include <draftproof/sim/info.hpp>
#include <draftproof/sim/trees/conditional_model.hpp>

namespace mine {

using namespace draftproof;

struct PathOfTarget {
  static constexpr Info info{.name = "path_of_target",
                             .summary = "accept nothing, draw one token from the target",
                             .source = "a test",
                             .drafts = DraftLaws{"iid_paths"}};

  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    const L& laws = at.laws(DraftTree::root);
    return {DraftTree::root, random.emit(laws.residual(laws.zero()))};
  }
};

}  // namespace mine
