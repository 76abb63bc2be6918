// Ladders choose one of K i.i.d. paths token by token; block verification then verifies it as one path drawn from the
// distribution of the chosen path.
//
//   u         node of the chosen path        the paths that share it are active, all K at the root
//   mu        distribution of their number   a function of the prefix (verifiers/ladder/live_paths.hpp)
//   f(s)      sum of mu_m (1 - (1 - s)^m)    upper bound of the ladder at u, which approximates p(.|u)
//   q_chosen  q(y|u) slope[bin of y]         the proposal row given to block verification
//
// At u one uniform sets the levels, the active next token of highest p / q determines the group, and one active path
// in the group is chosen uniformly. More paths can be worse, rarely and by little (docs/ladder.md).
// Cost: one plan per node, kept per prefix; then O(K) per node and, on the n bins of a table, O(n) per test; O(log V)
// on single tokens and where two active paths are rare. On a device no plan is kept: one plan per node, and one for
// each test but the first at a node of several paths.
// Source: derived here (docs/ladder.md); block verification of Sun et al. 2025, arXiv:2403.10444.
// Correctness: block verification is lossless for any path whose distribution it is given. Given u and the number m of
// active paths, the next tokens of the active paths are i.i.d. from q(.|u), whatever was chosen before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <draftproof/sim/info.hpp>
#include <draftproof/verifiers/ladder/chosen_path.hpp>
#include <draftproof/verifiers/ladder/path_plans.hpp>
#include <draftproof/verifiers/ladder/recomputed_plans.hpp>

namespace draftproof::verifiers::paths {

struct LadderBlock {
  static constexpr Info info{
      .name = "ladder_block",
      .summary = "choose one of K paths by ladders, then block verification with the distribution of the chosen path",
      .source = "derived here, docs/ladder.md; block verification of arXiv:2403.10444",
      .drafts = DraftSamplings{"iid_paths", "delayed_paths"},
      .claims = {.accepts_equal_distributions = true, .one_path_is_block = true},
      .ranks_tokens = true};

  /// Bytes of shared memory that a team of device threads needs for a plan and for the distributions of the number of
  /// active paths.
  static constexpr std::size_t team_bytes = ladder_team_bytes<std::uint16_t>() + recomputed_plan_bytes;

  template <class L>
  using Plans = std::conditional_t<PlannedByTeam<L>, PlanRecomputer<L>, LadderPaths<L>>;

  template <class L>
  Plans<L> prepare(const ConditionalModel<L>&, const TreeShape&) const {
    return {};
  }

  template <class L, class R>
  DRAFTPROOF_DEVICE StepOutput verify(const DraftedTree<L>& at, Plans<L>& plans, R& random) const {
    ChosenSteps<L, Plans<L>> steps(at, plans);
    choose(at, plans, steps, random);
    return verify_block(steps, random);
  }

  /// Appends the chosen path, from the root to its end, to `steps`. Does not return the steps, because a copy would
  /// pass through a thread's registers.
  template <class L, class R>
  DRAFTPROOF_DEVICE void choose(const DraftedTree<L>& at, Plans<L>& plans, ChosenSteps<L, Plans<L>>& steps,
                                R& random) const {
    const auto& tree = at.tree();
    plans.begin(at);
    typename Plans<L>::Place place{};
    int arrived = 0;  // paths that share u
    for (int u = DraftTree::root; !tree.leaf(u);) {
      // If more paths leave u than arrived, at the root or at the end of a stem, they start together there.
      place = tree.draw_count(u) == arrived ? plans.below(at, u, place, steps.last_bin()) : plans.start(at, u);
      const auto [child, bin] = plans.choose(at, u, place, random);
      arrived = 0;
      for (const int drawn : tree.draws(u)) arrived += drawn == child;
      steps.append(place, child, bin);
      u = child;
    }
  }
};

}  // namespace draftproof::verifiers::paths
