#include <draftproof/properties/paths/path_analysis.hpp>

#include <algorithm>

namespace draftproof {

namespace {

PrefixTable<RatioTable> as_tables(const PathInstance& instance) {
  const auto exact = instance.conditionals();
  const int size = instance.vocabulary();
  std::size_t prefixes = 1, level = 1;
  for (int i = 0; i < instance.listed_length(); ++i) prefixes += level *= static_cast<std::size_t>(size);
  std::vector<RatioTable> tables;
  for (std::size_t context = 0; context < prefixes; ++context) {
    const Rows<Rational>& rows = exact.distributions(static_cast<int>(context));
    std::vector<double> target, proposal;
    for (Token x = 0; x < size; ++x) {
      target.push_back(static_cast<double>(rows.target(x)));
      proposal.push_back(static_cast<double>(rows.proposal(x)));
    }
    tables.emplace_back(target, proposal);
  }
  return PrefixTable<RatioTable>(std::move(tables));
}

}  // namespace

bool PathInstanceAnalysis::possible(const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter,
                                    const PathInstance& instance) {
  const auto takes = [&verifier](int drafts) { return verifier.takes(drafts); };
  const auto& branching = instance.shape.branching;
  // A drafter that uses TreeShape::branching ignores K.
  return (drafter.info().branches && !branching.empty() ? std::all_of(branching.begin(), branching.end(), takes)
                                                        : takes(instance.shape.drafts));
}

const StepDistribution<Rational>& PathInstanceAnalysis::distribution() {
  if (!distribution_) distribution_ = distribution_of(instance_);
  return *distribution_;
}

StepDistribution<Rational> PathInstanceAnalysis::distribution_of(const PathInstance& variation) {
  const auto conditionals = declared_instance(drafter_.info(), variation).conditionals();
  const auto decider = verifier_.prove_on(conditionals, variation.shape);
  auto distribution =
      explore_step_distribution<Distributions>(drafter_, *decider, conditionals, variation.shape, 0, limits_);
  leaves_ += distribution.leaves;
  return distribution;
}

std::vector<PathTrial> PathInstanceAnalysis::trials(const PathInstance& variation, int count) const {
  constexpr std::uint64_t seed = 1;
  const auto conditionals = as_tables(declared_instance(drafter_.info(), variation));
  const auto decider = verifier_.simulate_on(conditionals, variation.shape);
  std::vector<PathTrial> trials;
  DraftTree tree;
  for (std::uint64_t n = 0; n < static_cast<std::uint64_t>(count); ++n) {
    tree.clear(0);
    Philox drafting(seed, n, Philox::Role::draft), verifying(seed, n, Philox::Role::verify);
    drafter_.draw(conditionals, variation.shape, drafting, tree);
    const StepOutput step = decider->decide(tree, {}, verifying);
    trials.push_back({path_to(tree, step.node)});
    trials.back().emitted.push_back(step.extra.token);
  }
  return trials;
}

bool PathInstanceAnalysis::each_tree(const ConditionalModel<Distributions>& conditionals, const TreeShape& shape,
                                     const Visit& visit, int context) {
  return explore_trees<Distributions, Rational>(drafter_, conditionals, shape, context, limits_, visit) > 0;
}

std::optional<Outputs> PathInstanceAnalysis::outputs(Decider& decider, const DraftTree& tree,
                                                     const VerifierState<Rational>& carry) {
  // All properties checked on this instance share one budget of enumerated outcomes, so the work does not grow with
  // their number.
  constexpr std::uint64_t enumerations = 16;
  const std::uint64_t budget = enumerations * limits_.leaves;
  if (leaves_ >= budget) return std::nullopt;
  Outputs outputs;
  const bool whole = explore_steps<Distributions, Rational>(
      decider, tree, carry, {.leaves = budget - leaves_, .vocabulary = instance_.vocabulary()},
      [&](int node, Token extra, const Rational& probability) {
        if (probability > 0) outputs[{node, extra}] += probability;
      },
      &leaves_);
  if (!whole) return std::nullopt;
  return outputs;
}

}  // namespace draftproof
