// Ladders choose a path through a tree whose children were drawn without replacement; block verification then
// verifies it as one path drawn from the distribution of the chosen path.
//
//   u         node of the chosen path        its children are m drafts without replacement, in draw order
//   F         coverage of m drafts           bound of the ladder at u, which approximates p(.|u)
//   q_chosen  q(y|u) slope[bin of y]         the proposal row given to block verification
//
// The choice at u is the choice of ladder_wor. The choice reads the children of u only, so the subtree below the chosen
// child still has the distribution of a drafted subtree: a plan depends on the context and on m, and is kept for each
// pair. The number of children may differ from depth to depth.
// Cost: one plan per context and number of children, O(V K M) for K > 2 (ladder/race_bins.hpp); then O(K) per node
// and O(n) per test on the n bins of a table. On a device no plan is kept: one plan per node, and one for each test
// but the first at a node of several children.
// Source: derived here (docs/ladder.md); block verification of Sun et al. 2025, arXiv:2403.10444.
// Correctness: block verification is lossless for any path whose distribution it is given. Given the prefix, the
// chosen token has distribution q_chosen, whatever its siblings are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <draftproof/sim/info.hpp>
#include <draftproof/verifiers/ladder/chosen_path.hpp>
#include <draftproof/verifiers/ladder/path_plans.hpp>
#include <draftproof/verifiers/ladder/recomputed_plans.hpp>

namespace draftproof::verifiers::paths {

struct LadderBlockWor {
  static constexpr Info info{
      .name = "ladder_block_wor",
      .summary =
          "choose a path of children without replacement by ladders, then block verification with its distribution",
      .source = "derived here, docs/ladder.md; block verification of arXiv:2403.10444",
      .drafts = DraftSamplings{"without_replacement_tree"},
      .claims = {.accepts_equal_distributions = true, .one_path_is_block = true},
      .ranks_tokens = true};

  /// Bytes of shared memory that a team of device threads needs for a plan.
  static constexpr std::size_t team_bytes = ladder_wor_team_bytes<std::uint16_t>();

  template <class L>
  using Plans = std::conditional_t<PlannedByTeam<L>, DistinctPlans<L>, LadderPaths<L>>;

  template <class L>
  Plans<L> prepare(const ConditionalModel<L>&, const TreeShape&) const {
    return {};
  }

  template <class L, class R>
  DRAFTPROOF_DEVICE StepOutput verify(const DraftedTree<L>& at, Plans<L>& plans, R& random) const {
    const auto& tree = at.tree();
    plans.begin(at);
    ChosenSteps<L, Plans<L>> steps(at, plans);
    for (int u = DraftTree::root; !tree.leaf(u);) {
      const auto place = plans.distinct(at, u);
      const auto [child, bin] = plans.choose_distinct(at, u, place, random);
      steps.append(place, child, bin);
      u = child;
    }
    return verify_block(steps, random);
  }
};

}  // namespace draftproof::verifiers::paths
