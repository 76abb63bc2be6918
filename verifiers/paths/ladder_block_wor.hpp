// Ladders choose a path through a tree whose children were drawn without replacement; block verification then verifies
// it as one path drawn from the law of the chosen path.
//
//   u         node of the chosen path        its children are m drafts without replacement, in draw order
//   F         coverage of m drafts           bound of the ladder at u, which approximates p(.|u)
//   q_chosen  q(y|u) slope[bin of y]         the proposal row given to block verification
//
// The choice at u is that of ladder_wor. It reads the children of u only, so the subtree below the chosen child is as
// it was drafted: a plan depends on the context and on m, and is kept for both. Trees may have other numbers of
// children at every depth.
// Cost: one plan a context and number of children, O(V K M) for K > 2 (ladder/race_integral.hpp); then O(K) a node and
// O(n) a test on the n bins of a table.
// Source: derived here (docs/ladder.md); block verification of Sun et al. 2025, arXiv:2403.10444.
// Correctness: block verification is lossless for any path whose law it is given. Given the prefix, the chosen token
// has law q_chosen, whatever its siblings are.
#pragma once

#include <draftproof/sim/info.hpp>
#include <draftproof/verifiers/ladder/chosen_path.hpp>
#include <draftproof/verifiers/ladder/path_plans.hpp>

namespace draftproof::verifiers::paths {

struct LadderBlockWor {
  static constexpr Info info{
      .name = "ladder_block_wor",
      .summary = "choose a path of children without replacement by ladders, verify it as a block of its law",
      .source = "derived here, docs/ladder.md; block verification of arXiv:2403.10444",
      .drafts = DraftLaws{"without_replacement_tree"},
      .claims = {.accepts_equal_laws = true, .one_path_is_block = true},
      .unsupported = {.device = "its plans integrate a race on the host"},
      .ranks_tokens = true};

  template <class L>
  LadderPaths<L> prepare(const ConditionalModel<L>&, const TreeShape&) const {
    return {};
  }

  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, LadderPaths<L>& plans, R& random) const {
    const auto& tree = at.tree();
    plans.begin(at);
    ChosenSteps<L, LadderPaths<L>> steps(at, plans);
    for (int u = DraftTree::root; !tree.leaf(u);) {
      const auto place = &plans.distinct(at.conditionals(), tree.context(u), tree.draw_count(u));
      const auto [child, bin] = place->node.choose_distinct(tree, u, at.laws(u), random);
      steps.append(place, child, bin);
      u = child;
    }
    return verify_block(steps, random);
  }
};

}  // namespace draftproof::verifiers::paths
