// Ladders choose one of K i.i.d. paths token by token; block verification then takes it as one path drawn from the
// law that the chosen path has.
//
//   u         node of the chosen path        the paths that share it are active, all K at the root
//   mu        law of their number            known from the prefix alone (sim/active_paths.hpp)
//   f(s)      sum of mu_m (1 - (1 - s)^m)    bound of the ladder at u, which follows p(.|u)
//   q_chosen  q(y|u) slope[rung of y]        the proposal row block verification is told
//
// At u one uniform sets the levels, the best-ranked active next token fixes the group, and one active path in the
// group is taken uniformly. Cost: a plan a node, kept per prefix; then O(K) a node and, on groups of a table,
// O(n) a test for n of them, O(log V) on single tokens and where two paths are rarely together. Source: derived here
// (docs/ladder.md); block verification of Sun et al. 2025, arXiv:2403.10444. Exact because block verification is for
// any law of its path that it is told truly, and given u and m the active paths' next tokens are i.i.d. from q(.|u),
// whatever was chosen before. More paths can be worse, rarely and by little (docs/ladder.md).
#pragma once

#include <draftproof/sim/chosen_steps.hpp>
#include <draftproof/sim/info.hpp>
#include <draftproof/sim/ladder_paths.hpp>

namespace draftproof::verifiers::paths {

struct LadderBlock {
  static constexpr Info info{
      .name = "ladder_block",
      .summary = "choose one of K paths by ladders, verify it as a block of the law it then has",
      .source = "derived here, docs/ladder.md; block verification of arXiv:2403.10444",
      .drafts = DraftLaws{"iid_paths", "delayed_paths"},
      .claims = {.accepts_equal_laws = true, .one_path_is_block = true},
      .cannot = {.device = "the plans of a passage are kept together, in memory of the host"},
      .ranks_tokens = true};

  template <class L>
  LadderPaths<L> prepare(const Contexts<L>&, const TreeShape&) const {
    return {};
  }

  template <class L, class R>
  Passage verify(const TreeAt<L>& at, LadderPaths<L>& plans, R& random) const {
    return verify_block(choose(at, plans, random), random);
  }

  /// The chosen path from the root to its end.
  template <class L, class R>
  ChosenSteps<L> choose(const TreeAt<L>& at, LadderPaths<L>& plans, R& random) const {
    const DraftTree& tree = at.tree();
    const auto& contexts = at.contexts();
    ChosenSteps<L> steps(at);
    plans.begin(contexts);
    const typename LadderPaths<L>::Entry* plan = nullptr;
    int arrived = 0;  // paths that share u
    for (int u = DraftTree::root; !tree.leaf(u);) {
      // Where more paths leave than arrived, at the root or the end of a stem, they start together.
      plan = tree.draw_count(u) == arrived ? &plans.after(contexts, *plan, at.laws(tree.parent(u)), tree.token(u),
                                                          steps.last_rung(), tree.context(u))
                                           : &plans.root(contexts, tree.context(u), tree.draw_count(u));
      const auto [child, rung] = plan->node.choose(tree, u, at.laws(u), plans.scratch(), random);
      arrived = 0;
      for (const int drawn : tree.draws(u)) arrived += drawn == child;
      steps.append(plan->node, child, rung);
      u = child;
    }
    return steps;
  }
};

}  // namespace draftproof::verifiers::paths
