#include <draftproof/properties/paths/path_examination.hpp>

#include <algorithm>

namespace draftproof {

bool PathExamination::possible(const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter,
                               const PathInstance& instance) {
  const auto takes = [&verifier](int drafts) { return verifier.takes(drafts); };
  const auto& branching = instance.shape.branching;
  // Whoever heeds the branching does not heed K.
  return verifier.info().cannot.explore.empty() &&
         (drafter.info().branches && !branching.empty() ? std::all_of(branching.begin(), branching.end(), takes)
                                                        : takes(instance.shape.drafts));
}

const PassageLaw<Rational>& PathExamination::law() {
  if (!law_) law_ = law_of(instance_);
  return *law_;
}

PassageLaw<Rational> PathExamination::law_of(const PathInstance& variation) {
  const auto contexts = variation.contexts();
  const auto decider = verifier_.prove_on(contexts, variation.shape);
  auto law = explore_passage_law<Laws>(drafter_, *decider, contexts, variation.shape, 0, limits_);
  leaves_ += law.leaves;
  return law;
}

bool PathExamination::each_tree(const Contexts<Laws>& contexts, const TreeShape& shape, const Visit& visit,
                                int context) {
  return explore_trees<Laws, Rational>(drafter_, contexts, shape, context, limits_, visit) > 0;
}

std::optional<Passages> PathExamination::passages(Decider& decider, const DraftTree& tree,
                                                  const Carry<Rational>& carry) {
  // What several properties walk counts together: a rationed property must not multiply the budget without bound.
  constexpr std::uint64_t walks = 16;
  const std::uint64_t budget = walks * limits_.leaves;
  if (leaves_ >= budget) return std::nullopt;
  Passages passages;
  const bool whole = explore_passages<Laws, Rational>(
      decider, tree, carry, {.leaves = budget - leaves_},
      [&](int node, Token extra, const Rational& probability) {
        if (probability > 0) passages[{node, extra}] += probability;
      },
      &leaves_);
  if (!whole) return std::nullopt;
  return passages;
}

}  // namespace draftproof
