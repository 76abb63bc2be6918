// The ladder at one node of the chosen path: which of the paths that are still together goes on, the law of the token
// it goes on with, and how many stay together then.
//
//   mu        active()          law of the number of paths at the node, given that the choice came there
//   f         MixedCoverage     probability that one of them goes on in the first s of q
//   q_chosen  chosen(laws, y)   q(y|u) slope[rung of y]: law of the chosen path's next token
//
// Cost: O(n log n + n K) once for n rungs, plus three passes; O(m) a choice among m paths. Derived in docs/ladder.md.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <draftproof/sim/active_paths.hpp>
#include <draftproof/sim/chosen_table.hpp>
#include <draftproof/sim/draft_tree.hpp>
#include <draftproof/sim/ladder_levels.hpp>
#include <draftproof/sim/ladder_plan.hpp>

namespace draftproof {

/// The ladder at one node. One thread's own; what it answers never changes.
template <class L>
class LadderNode {
 public:
  using Scalar = typename L::Scalar;

  LadderNode(const L& laws, std::vector<Scalar> active)
      : active_{std::move(active)},
        rungs_{laws.rungs()},
        plan_{plan_ladder(laws, rungs_, MixedCoverage<Scalar>(active_))},
        levels_{plan_, decltype(rungs_)::single_tokens} {
    // What is left of p is at least 1 - acceptance; only near 1 can it be nothing, and then q_chosen is p but for
    // rounding, and said to be: a refusal would have nothing to emit. V roundings of 2^-53 stay below 2^-20.
    if (!(plan_.acceptance < Scalar(1 - 0x1p-20)))
      equal_ = !(laws.sum([&](Token x) { return above(laws, x, laws.one()); }) > laws.zero());
  }

  const std::vector<Scalar>& active() const { return active_; }
  int rungs() const { return rungs_.size(); }

  /// Law of the chosen path's next token.
  Scalar chosen(const L& laws, Token y) const {
    if (equal_) return laws.target(y);
    const auto& q = laws.proposal(y);
    return q > laws.zero() ? Scalar(q * plan_.slope[static_cast<std::size_t>(laws.rung(rungs_, y))]) : laws.zero();
  }
  /// (c p - q_chosen)+ at y.
  Scalar above(const L& laws, Token y, const Scalar& c) const {
    const Scalar left = c * laws.target(y) - chosen(laws, y);
    return left > laws.zero() ? left : laws.zero();
  }
  /// The same for all tokens, made when first asked for: most passages end below.
  const ChosenTable<Scalar>& left_over(const L& laws) const {
    if (!left_over_) left_over_.emplace(laws, [&](Token y) { return chosen(laws, y); });
    return *left_over_;
  }

  /// Law of the number of paths after y, given that y was chosen here.
  std::vector<Scalar> active_after(const L& laws, Token y) const {
    const int rung = laws.rung(rungs_, y);
    const Scalar q = laws.proposal(y);
    ActivePaths<Scalar> paths(active_);
    levels_.for_each_group(rung, [&](int a, int b, const Scalar& share) {
      // Masses of fresh rows are truncated sums, and a token may miss its rung's by its last bits.
      const Scalar others = rungs_.proposal_below(b) - rungs_.proposal_below(a) - q;
      paths.add_group(others > laws.zero() ? others : laws.zero(), Scalar(laws.one() - rungs_.proposal_below(b)),
                      share);
    });
    return paths.after(q);
  }

  /// The child of u that the chosen path goes on to. `group` is scratch.
  template <class R>
  int choose(const DraftTree& tree, int u, const L& laws, std::vector<int>& group, R& random) const {
    int best = *tree.draws(u).begin();
    bool choice = false;
    for (const int child : tree.draws(u)) {
      choice |= child != best;
      if (rung_of(tree, child, laws) < rung_of(tree, best, laws)) best = child;
    }
    if (!choice) return best;  // whatever u is, and whoever is taken
    const auto level = levels_.draw(random);
    group.clear();
    const int top = rung_of(tree, best, laws);
    for (const int child : tree.draws(u))
      if (levels_.together(top, rung_of(tree, child, laws), level)) group.push_back(child);
    if (group.size() == 1) return best;
    return group[static_cast<std::size_t>(random.pick(EqualWeights{static_cast<int>(group.size())}))];
  }

 private:
  int rung_of(const DraftTree& tree, int child, const L& laws) const { return laws.rung(rungs_, tree.token(child)); }

  std::vector<Scalar> active_;
  decltype(std::declval<const L&>().rungs()) rungs_;
  LadderPlan<Scalar> plan_;
  LadderLevels<Scalar> levels_;
  bool equal_ = false;
  mutable std::optional<ChosenTable<Scalar>> left_over_;
};

}  // namespace draftproof
