// The walk of recursive rejection without replacement over siblings sorted by token id.
//
// Source: tree builders that rank nodes. Wrong because the draw order carries the law. Hidden on chains.
#pragma once

#include <algorithm>

#include <draftproof/sim/walk.hpp>
#include <draftproof/verifiers/recursive_rejection_wor.hpp>

namespace draftproof::mutants::paths {

/// Recursive rejection without replacement that sees its drafts sorted.
template <class Before>
struct SortedRecursiveRejectionWor : verifiers::RecursiveRejectionWor {
  template <Position P, RandomSource R>
  Verdict verify(const P& at, R& random) const {
    Token sorted[max_drafts];
    std::copy(at.draft_data(), at.draft_data() + at.drafts(), sorted);
    std::sort(sorted, sorted + at.drafts(), [&](Token a, Token b) { return Before{}(at.laws(), a, b); });
    return verifiers::RecursiveRejectionWor{}.verify(At<typename P::Underlying>(at.laws(), sorted, at.drafts()),
                                                     random);
  }
};

struct LowerId {
  template <class L>
  bool operator()(const L&, Token a, Token b) const {
    return a < b;
  }
};

struct SiblingsSortedById : Walk<SortedRecursiveRejectionWor<LowerId>> {
  static constexpr Info info{.name = "siblings_sorted_by_id",
                             .summary = "recursive rejection without replacement of siblings sorted by token id",
                             .source = "slip of tree builders; rule of arXiv:2402.12374",
                             .drafts = DraftLaws{"without_replacement_tree", "iid_paths"}};
};

}  // namespace draftproof::mutants::paths
