// Which verifiers of paths are written for which trees: where the laws that verifiers name meet what tree drafters
// say of their trees. Neither side lists the other, so one more drafter finds its verifiers by itself.
#pragma once

#include <draftproof/sim/info.hpp>
#include <draftproof/sim/trees/tree_drafter.hpp>

namespace draftproof {

/// The verifier names the trees, or a law that their siblings have for it.
constexpr bool takes_trees(const Info& verifier, const TreeDrafterInfo& trees) {
  if (verifier.drafts.includes(trees.name)) return true;
  for (std::size_t i = 0; i < verifier.drafts.count; ++i) {
    const std::string_view law = verifier.drafts.names[i];
    if (trees.siblings.lists(law) || (verifier.sequential && trees.siblings_in_turn.lists(law))) return true;
  }
  return false;
}

}  // namespace draftproof
