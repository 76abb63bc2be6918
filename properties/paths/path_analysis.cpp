#include <draftproof/properties/paths/path_analysis.hpp>

#include <algorithm>

namespace draftproof {

namespace {

PrefixContexts<RatioTable> as_tables(const PathInstance& instance) {
  const auto exact = instance.contexts();
  const int size = instance.vocabulary();
  std::size_t prefixes = 1, level = 1;
  for (int i = 0; i < instance.listed_length(); ++i) prefixes += level *= static_cast<std::size_t>(size);
  std::vector<RatioTable> tables;
  for (std::size_t context = 0; context < prefixes; ++context) {
    const Rows<Rational>& rows = exact.laws(static_cast<int>(context));
    std::vector<double> target, proposal;
    for (Token x = 0; x < size; ++x) {
      target.push_back(static_cast<double>(rows.target(x)));
      proposal.push_back(static_cast<double>(rows.proposal(x)));
    }
    tables.emplace_back(target, proposal);
  }
  return PrefixContexts<RatioTable>(std::move(tables));
}

}  // namespace

bool PathExamination::possible(const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter,
                               const PathInstance& instance) {
  const auto takes = [&verifier](int drafts) { return verifier.takes(drafts); };
  const auto& branching = instance.shape.branching;
  // Whoever heeds the branching does not heed K.
  return (drafter.info().branches && !branching.empty() ? std::all_of(branching.begin(), branching.end(), takes)
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

std::vector<PathTrial> PathExamination::trials(const PathInstance& variation, int count) const {
  constexpr std::uint64_t seed = 1;
  const auto contexts = as_tables(variation);
  const auto decider = verifier_.simulate_on(contexts, variation.shape);
  std::vector<PathTrial> trials;
  DraftTree tree;
  for (std::uint64_t n = 0; n < static_cast<std::uint64_t>(count); ++n) {
    tree.clear(0);
    Philox drafting(seed, n, Philox::Role::draft), verifying(seed, n, Philox::Role::verify);
    drafter_.draw(contexts, variation.shape, drafting, tree);
    const Passage passage = decider->decide(tree, {}, verifying);
    trials.push_back({path_to(tree, passage.node)});
    trials.back().emitted.push_back(passage.extra.token);
  }
  return trials;
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
