// UniVer: verifies trees of fixed and drawn children (hybrid trees) from the leaves to the root. It tests one drawn
// child of each node, the first; further drawn children are never accepted. On trees whose nodes have one child, which
// is drawn, it equals block verification.
//
// Cost and correctness are described in verifiers/paths/hybrid/hybrid_rule.hpp.
// Source: arXiv:2605.04543.
#pragma once

#include <draftproof/sim/info.hpp>
#include <draftproof/verifiers/paths/hybrid/hybrid_rule.hpp>

namespace draftproof::verifiers::paths {

struct Univer : HybridVerifier<DrawnInOrder<1>> {
  static constexpr Info info{.name = "univer",
                             .summary = "verify a tree of fixed children and one drawn child from leaves to root",
                             .source = "arXiv:2605.04543",
                             .drafts = DraftSamplings{"hybrid_tree", "pruned_hybrid_tree"},
                             .unsupported = {.device = "not written for kernels"},
                             .ranks_tokens = true};
};

}  // namespace draftproof::verifiers::paths
