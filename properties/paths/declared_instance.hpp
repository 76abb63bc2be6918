// A toy model with the proposals that a drafter of trees declares: those of the model, or the row of a cache at every
// prefix. Verifiers and checks of the drafter work on it.
//
// Cost: V^L prefixes for a cache: the rows of prefixes that are not listed may differ then.
#pragma once

#include <draftproof/properties/instances/path_instance.hpp>
#include <draftproof/properties/subjects/any_path_verifier.hpp>
#include <draftproof/sim/trees/tree_drafter.hpp>

namespace draftproof {

/// Whether the declared rows are there after any number of iterations. Those of a cache are listed for the prefixes
/// of one step; a longer text has the row of its beginning, which is not that of its last token.
inline bool declares_every_row(const AnyTreeDrafter& drafter) { return drafter.info().row == DraftRow::context; }

inline PathInstance declared_instance(const TreeDrafterInfo& drafter, const PathInstance& instance) {
  if (drafter.row == DraftRow::context) return instance;
  PathInstance declared{.shape = instance.shape, .rows = {}};
  std::vector<Tokens> level{{}};
  for (int depth = 0; depth <= instance.shape.length; ++depth) {
    std::vector<Tokens> next;
    for (Tokens& prefix : level) {
      PrefixWeights rows = instance.after(prefix);
      if (!prefix.empty()) rows.proposal = instance.after({prefix.back()}).proposal;
      for (Token x = 0; x < instance.vocabulary(); ++x) {
        next.push_back(prefix);
        next.back().push_back(x);
      }
      declared.rows.emplace(std::move(prefix), std::move(rows));
    }
    level = std::move(next);
  }
  return declared;
}

}  // namespace draftproof
