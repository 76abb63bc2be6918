// Wrong drafter of trees: drafts come from a cache keyed by the last token, and the verifier gets the proposal after
// the whole prefix. draft laws: iid_paths.
//
// Source: derived here, after caches of engines whose logits are those of a fresh pass.
// Hidden: where the proposal depends on the last token alone, and in paths of one token.
#pragma once

#include <draftproof/sim/drafters/trees/token_cache_paths.hpp>

namespace draftproof::mutants::tree_drafters {

struct TokenCacheUndeclared : draftproof::tree_drafters::TokenCachePaths {
  static constexpr TreeDrafterInfo info{
      .name = "token_cache_undeclared",
      .summary = "paths from a cache keyed by the last token, declared as the proposal's",
      .siblings = DraftLaws{"iid"},
      .declared_as = "iid_paths",
      .wrong = true};
};

}  // namespace draftproof::mutants::tree_drafters
