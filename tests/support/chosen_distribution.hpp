// Results that are computed from the plans of ladder_block, without drafts: the distribution of the chosen path, and
// the mean number of tokens that block verification accepts of such a path.
#pragma once

#include <algorithm>

#include <draftproof/properties/paths/step_distribution.hpp>
#include <draftproof/verifiers/ladder/path_plans.hpp>

namespace draftproof {

/// Calls `visit(tokens, entry, chosen)` for every prefix of at most `length` tokens that can be chosen. `entry` is the
/// ladder of the prefix, or null at full length; `chosen` is the probability that the choice reaches the prefix.
template <class L, class Visit>
void visit_choices(const ConditionalModel<L>& conditionals, int paths, int length, Visit visit) {
  using Scalar = typename L::Scalar;
  LadderPaths<L> plans;
  const auto walk = [&](const auto& self, Tokens& tokens, const auto* entry, int context, const Scalar& reached) {
    visit(tokens, entry, reached);
    if (!entry) return;
    const L& distributions = conditionals.distributions(context);
    for (Token y = 0; y < distributions.vocabulary(); ++y) {
      const Scalar q = entry->node.chosen(distributions, y);
      if (!(q > distributions.zero())) continue;
      const int next = conditionals.next(context, y);
      const bool end = static_cast<int>(tokens.size()) + 1 == length;
      tokens.push_back(y);
      self(self, tokens, end ? nullptr : &plans.after(conditionals, *entry, distributions, y, next), next,
           Scalar(reached * q));
      tokens.pop_back();
    }
  };
  Tokens tokens;
  walk(walk, tokens, &plans.root(conditionals, 0, paths), 0, Scalar(1));
}

/// Returns E[tau] of ladder_block: the sum of a(x) over all prefixes x, where
/// a(xy) = min(q_chosen(xy), a(x) p(y|x)).
template <class L>
typename L::Scalar planned_mean_accepted(const ConditionalModel<L>& conditionals, int paths, int length) {
  using Scalar = typename L::Scalar;
  Scalar mean{0};
  std::vector<Scalar> kept{Scalar(1)};  // a(x) for the current prefix x and for all shorter prefixes of x
  std::vector<int> context{0};
  visit_choices(conditionals, paths, length, [&](const Tokens& tokens, const auto*, const Scalar& chosen) {
    const std::size_t depth = tokens.size();
    if (depth == 0) return;
    kept.resize(depth);
    context.resize(depth);
    const int before = context.back();
    kept.push_back(
        std::min<Scalar>(chosen, Scalar(kept.back() * conditionals.distributions(before).target(tokens.back()))));
    context.push_back(conditionals.next(before, tokens.back()));
    mean += kept.back();
  });
  return mean;
}

}  // namespace draftproof
