// Runs every registered scheme through an adapter. On each drafted input the distribution that is found by calls alone
// equals the distribution that an enumeration of the scheme's branches gives; for a lossless scheme it also equals the
// target's.
#include <map>
#include <set>

#include <gtest/gtest.h>

#include <draftproof/adapters/built_in/drafted_input.hpp>
#include <draftproof/adapters/built_in/serve_registered.hpp>
#include <draftproof/adapters/gate/distribution_checks.hpp>
#include <draftproof/properties/paths/step_distribution.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/tests/support/adapters_served.hpp>

namespace draftproof::adapters {
namespace {

constexpr int instances_a_scheme = 50;

using TokenDistribution = std::map<std::vector<Token>, double>;

/// Returns the output distribution of the compiled verifier on the input, by enumeration of its branches in double;
/// nullopt if its branches cannot be enumerated.
std::optional<TokenDistribution> enumerated(const std::string& name, const Declaration& declaration,
                                            const Input& input) {
  TokenDistribution distribution;
  if (const AnyVerifier* verifier = registry().verifier(name)) {
    const Rows<double> rows(input.p[0], input.q);
    const auto decider = verifier->explore_on(rows, static_cast<int>(input.drafts.size()));
    if (!decider) return std::nullopt;
    Explorer<double> explorer;
    explorer.with_rounding();
    EXPECT_TRUE(explorer.explore([&](Explorer<double>& random) { return decider->decide(input.drafts, random); },
                                 [&](const Leaf<double>& leaf) {
                                   leaf.each_token(
                                       [&](Token x, double probability) { distribution[{x}] += probability; });
                                 }));
    return distribution;
  }
  const DraftedInput drafted(input, declaration.level == Level::chain,
                             path_registry().drafter(declaration.draft_sampling)->info());
  const TreeShape shape{.drafts = std::max(drafted.most_at_node(), 1), .length = drafted.tree().length()};
  const auto decider = path_registry().verifier(name)->explore_on(drafted, shape);
  if (!decider) return std::nullopt;
  Explorer<double> explorer;
  explorer.with_rounding();
  int node = DraftTree::root;
  const bool whole = explorer.explore(
      [&](Explorer<double>& random) {
        const StepOutput step = decider->decide(drafted.tree(), {}, random);
        node = step.node;
        return step.extra;
      },
      [&](const Leaf<double>& leaf) {
        leaf.each_token([&](Token extra, double probability) {
          Tokens tokens = path_to(drafted.tree(), node);
          tokens.push_back(extra);
          distribution[tokens] += probability;
        });
      });
  EXPECT_TRUE(whole);
  return distribution;
}

double distance(const ProgramDistribution& found, TokenDistribution wanted) {
  double sum = 0;
  for (const OutcomeMass& each : found.outcomes) {
    double& mass = wanted[each.outcome.tokens];
    mass -= each.outcome.status == RowStatus::ok ? each.probability : 0;
  }
  for (const auto& [tokens, left] : wanted) sum += std::abs(left);
  return sum / 2;
}

/// The values of V, K and L in the instances of all schemes, the schemes that ran, and the schemes that needed more
/// predictions.
struct Swept {
  std::set<int> vocabularies{}, drafts{}, lengths{};
  std::vector<std::string> schemes{};
  std::set<std::string> explored_again{};
};

SmallModel small_model_number(const Declaration& declaration, int n, Swept& swept) {
  if (declaration.level == Level::position) {
    const Instance instance = external_instance(declaration, 1, n);
    swept.drafts.insert(instance.drafts);
    return small_model_of(instance, declaration.draft_sampling);
  }
  const PathInstance instance = external_path_instance(declaration, 1, n);
  swept.drafts.insert(instance.shape.drafts);
  swept.lengths.insert(instance.shape.length);
  return small_model_of(instance, declaration.draft_sampling, declaration.level);
}

double limit_of(const ProgramDistribution& distribution, const SmallModel& small_model, std::size_t i) {
  return distribution.limit + rounding_limit(Dtype::float64, static_cast<int>(small_model.inputs[i].drafts.size()),
                                             small_model.vocabulary);
}

/// Whether a distribution differs from the enumeration.
bool departs(const std::string& name, const Declaration& declaration, const SmallModel& small_model,
             const std::vector<ProgramDistribution>& distributions) {
  for (std::size_t i = 0; i < distributions.size(); ++i)
    if (const auto wanted = enumerated(name, declaration, small_model.inputs[i]);
        wanted && distance(distributions[i], *wanted) > limit_of(distributions[i], small_model, i))
      return true;
  return false;
}

void sweep(const BuiltInName& own, Swept& swept) {
  SCOPED_TRACE(own.name);
  const auto served = serve_registered(own.name);
  const Declaration& declaration = served->declaration();
  ServedProgram program(*served);
  const ExploreOptions options{.coin_bits = declaration.coin_bits, .dtype_bits = 53};
  for (int n = 0; n < instances_a_scheme; ++n) {
    const SmallModel small_model = small_model_number(declaration, n, swept);
    swept.vocabularies.insert(small_model.vocabulary);
    std::vector<ProgramDistribution> distributions = explore_program(program, small_model.inputs, options);
    // The usual number of predictions can miss a branch that one call in a thousand takes, such as a narrow interval
    // between levels, so a distribution that differs is explored again with more predictions.
    if (departs(own.name, declaration, small_model, distributions)) {
      ExploreOptions more = options;
      more.predictions = 1 << 14;
      distributions = explore_program(program, small_model.inputs, more);
      swept.explored_again.insert(own.name);
    }
    for (std::size_t i = 0; i < distributions.size(); ++i) {
      EXPECT_TRUE(distributions[i].state == DistributionState::settled ||
                  distributions[i].state == DistributionState::cut)
          << small_model.text;
      EXPECT_LE(distributions[i].unexplored, 0x1p-50) << small_model.text;  // branches below 2^-60 are cut
      const auto wanted = enumerated(own.name, declaration, small_model.inputs[i]);
      ASSERT_TRUE(wanted.has_value());
      EXPECT_LE(distance(distributions[i], *wanted), limit_of(distributions[i], small_model, i))
          << small_model.text << ", input " << i;
    }
    if (own.kind != Kind::verifier || own.stateful) continue;
    const Judgement judgement = judge(small_model, distributions, declaration);
    EXPECT_LE(judgement.distance, judgement.limit) << small_model.text;
    for (const EdgeOutcome& edge : judgement.edges) ADD_FAILURE() << small_model.text << ": " << edge.what;
    EXPECT_LE(judgement.acceptance, small_model.optimum.value_or(small_model.length) + judgement.limit)
        << small_model.text;
  }
  swept.schemes.push_back(own.name);
}

/// Sweeps all schemes of the kind, of one position or of paths, except schemes that share noise with their drafters,
/// which are seeded only.
Swept sweep_all(Kind kind, bool position) {
  Swept swept;
  int seeded_only = 0;
  for (const BuiltInName& own : built_in_names()) {
    if (own.kind != kind || (own.level == Level::position) != position) continue;
    if (own.shared_noise) {
      EXPECT_FALSE(serve_registered(own.name)->declaration().can(Randomness::scripted));
      ++seeded_only;
      continue;
    }
    sweep(own, swept);
  }
  if (kind == Kind::lossy) return swept;
  EXPECT_EQ(seeded_only, 5);
  EXPECT_LE(swept.explored_again.size(), 3u) << "the usual predictions suffice for nearly all";
  EXPECT_EQ(swept.vocabularies, (std::set{2, 3, 4}));
  return swept;
}

TEST(EveryScheme, DistributionsOfPositionsAreFoundByCalls) {
  const Swept swept = sweep_all(Kind::verifier, true);
  EXPECT_GE(swept.schemes.size(), 25u);
  EXPECT_EQ(swept.drafts, (std::set{1, 2, 3}));
}

TEST(EveryScheme, DistributionsOfPathsAreFoundByCalls) {
  const Swept swept = sweep_all(Kind::verifier, false);
  EXPECT_GE(swept.schemes.size(), 21u);
  EXPECT_EQ(swept.drafts, (std::set{1, 2, 3}));
  EXPECT_EQ(swept.lengths, (std::set{1, 2, 3, 4, 6}));
}

TEST(EveryScheme, DistributionsOfLossySchemesAreFoundByCalls) {
  EXPECT_EQ(sweep_all(Kind::lossy, true).schemes.size() + sweep_all(Kind::lossy, false).schemes.size(), 29u);
}

}  // namespace
}  // namespace draftproof::adapters
