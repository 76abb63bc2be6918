// UniVer with traversal verification: tests all drawn children of a node in draw order, then its fixed children. On
// trees without fixed children it equals traversal verification.
//
// Cost and correctness are described in verifiers/paths/hybrid/hybrid_rule.hpp.
// Source: derived here (docs/paths.md); rules of arXiv:2605.04543 and arXiv:2505.12398.
#pragma once

#include <draftproof/sim/info.hpp>
#include <draftproof/verifiers/paths/hybrid/hybrid_rule.hpp>

namespace draftproof::verifiers::paths {

struct UniverTraversal : HybridVerifier<DrawnInOrder<max_drafts>> {
  static constexpr Info info{.name = "univer_traversal",
                             .summary = "traversal verification of the drawn children, then UniVer's fixed children",
                             .source = "derived here, docs/paths.md; rules of arXiv:2605.04543 and arXiv:2505.12398",
                             .drafts = DraftSamplings{"hybrid_tree", "pruned_hybrid_tree"},
                             .unsupported = {.device = "not written for kernels"},
                             .ranks_tokens = true};
};

}  // namespace draftproof::verifiers::paths
