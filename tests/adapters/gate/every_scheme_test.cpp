// Every registered scheme behind an adapter. On each drafted input the law that is found by calls alone is the one
// that an enumeration of the scheme's branches gives; for a lossless scheme it is the target's.
#include <map>
#include <set>

#include <gtest/gtest.h>

#include <draftproof/adapters/gate/law_checks.hpp>
#include <draftproof/adapters/own/drafted_input.hpp>
#include <draftproof/adapters/own/serve_registered.hpp>
#include <draftproof/properties/paths/step_law.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/tests/support/doors_served.hpp>

namespace draftproof::adapters {
namespace {

constexpr int instances_a_scheme = 50;

using TokenLaw = std::map<std::vector<Token>, double>;

/// The law of the compiled verifier on the input, by its branches in double; nothing if it has no such form.
std::optional<TokenLaw> enumerated(const std::string& name, const Declaration& declaration, const Input& input) {
  TokenLaw law;
  if (const AnyVerifier* verifier = registry().verifier(name)) {
    const Rows<double> rows(input.p[0], input.q);
    const auto decider = verifier->explore_on(rows, static_cast<int>(input.drafts.size()));
    if (!decider) return std::nullopt;
    Explorer<double> explorer;
    explorer.with_rounding();
    EXPECT_TRUE(explorer.explore([&](Explorer<double>& random) { return decider->decide(input.drafts, random); },
                                 [&](const Leaf<double>& leaf) {
                                   leaf.each_token([&](Token x, double probability) { law[{x}] += probability; });
                                 }));
    return law;
  }
  const DraftedInput drafted(input, declaration.level == Level::chain,
                             path_registry().drafter(declaration.law)->info());
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
          law[tokens] += probability;
        });
      });
  EXPECT_TRUE(whole);
  return law;
}

double distance(const ProgramLaw& found, TokenLaw wanted) {
  double sum = 0;
  for (const OutcomeMass& each : found.outcomes) {
    double& mass = wanted[each.outcome.tokens];
    mass -= each.outcome.status == RowStatus::ok ? each.probability : 0;
  }
  for (const auto& [tokens, left] : wanted) sum += std::abs(left);
  return sum / 2;
}

/// What the instances of all schemes cover.
struct Swept {
  std::set<int> vocabularies{}, drafts{}, lengths{};
  std::vector<std::string> schemes{};
  std::set<std::string> explored_again{};
};

Toy toy_number(const Declaration& declaration, int n, Swept& swept) {
  if (declaration.level == Level::position) {
    const Instance instance = foreign_instance(declaration, 1, n);
    swept.drafts.insert(instance.drafts);
    return toy_of(instance, declaration.law);
  }
  const PathInstance instance = foreign_path_instance(declaration, 1, n);
  swept.drafts.insert(instance.shape.drafts);
  swept.lengths.insert(instance.shape.length);
  return toy_of(instance, declaration.law, declaration.level);
}

double limit_of(const ProgramLaw& law, const Toy& toy, std::size_t i) {
  return law.limit + rounding_limit(Dtype::float64, static_cast<int>(toy.inputs[i].drafts.size()), toy.vocabulary);
}

/// Whether a law is not the one of the enumeration.
bool departs(const std::string& name, const Declaration& declaration, const Toy& toy,
             const std::vector<ProgramLaw>& laws) {
  for (std::size_t i = 0; i < laws.size(); ++i)
    if (const auto wanted = enumerated(name, declaration, toy.inputs[i]);
        wanted && distance(laws[i], *wanted) > limit_of(laws[i], toy, i))
      return true;
  return false;
}

void sweep(const OwnName& own, Swept& swept) {
  SCOPED_TRACE(own.name);
  const auto served = serve_registered(own.name);
  const Declaration& declaration = served->declaration();
  ServedProgram program(*served);
  const ExploreOptions options{.coin_bits = declaration.coin_bits, .dtype_bits = 53};
  for (int n = 0; n < instances_a_scheme; ++n) {
    const Toy toy = toy_number(declaration, n, swept);
    swept.vocabularies.insert(toy.vocabulary);
    std::vector<ProgramLaw> laws = explore_program(program, toy.inputs, options);
    // A branch of one call in a thousand, such as a narrow interval between levels, can escape the usual predictions.
    if (departs(own.name, declaration, toy, laws)) {
      ExploreOptions more = options;
      more.predictions = 1 << 14;
      laws = explore_program(program, toy.inputs, more);
      swept.explored_again.insert(own.name);
    }
    for (std::size_t i = 0; i < laws.size(); ++i) {
      EXPECT_TRUE(laws[i].state == LawState::settled || laws[i].state == LawState::cut) << toy.text;
      EXPECT_LE(laws[i].unexplored, 0x1p-50) << toy.text;  // branches below 2^-60
      const auto wanted = enumerated(own.name, declaration, toy.inputs[i]);
      ASSERT_TRUE(wanted.has_value());
      EXPECT_LE(distance(laws[i], *wanted), limit_of(laws[i], toy, i)) << toy.text << ", input " << i;
    }
    if (own.kind != Kind::verifier || own.stateful) continue;
    const Judgement judgement = judge(toy, laws, declaration);
    EXPECT_LE(judgement.distance, judgement.limit) << toy.text;
    for (const EdgeOutcome& edge : judgement.edges) ADD_FAILURE() << toy.text << ": " << edge.what;
    EXPECT_LE(judgement.acceptance, toy.optimum.value_or(toy.length) + judgement.limit) << toy.text;
  }
  swept.schemes.push_back(own.name);
}

/// All schemes of the kind, of one position or of paths, but those that read the noise of their drafters: they are
/// seeded only.
Swept sweep_all(Kind kind, bool position) {
  Swept swept;
  int seeded_only = 0;
  for (const OwnName& own : own_names()) {
    if (own.kind != kind || (own.level == Level::position) != position) continue;
    if (own.shared_noise) {
      EXPECT_FALSE(serve_registered(own.name)->declaration().can(Randomness::scripted));
      ++seeded_only;
      continue;
    }
    sweep(own, swept);
  }
  if (kind == Kind::lossy) return swept;
  EXPECT_EQ(seeded_only, 4);
  EXPECT_LE(swept.explored_again.size(), 3u) << "the usual predictions suffice for nearly all";
  EXPECT_EQ(swept.vocabularies, (std::set{2, 3, 4}));
  return swept;
}

TEST(EveryScheme, LawsOfPositionsAreFoundByCalls) {
  const Swept swept = sweep_all(Kind::verifier, true);
  EXPECT_GE(swept.schemes.size(), 25u);
  EXPECT_EQ(swept.drafts, (std::set{1, 2, 3}));
}

TEST(EveryScheme, LawsOfPathsAreFoundByCalls) {
  const Swept swept = sweep_all(Kind::verifier, false);
  EXPECT_GE(swept.schemes.size(), 21u);
  EXPECT_EQ(swept.drafts, (std::set{1, 2}));
  EXPECT_EQ(swept.lengths, (std::set{1, 2, 3, 4}));
}

TEST(EveryScheme, LawsOfLossySchemesAreFoundByCalls) {
  EXPECT_EQ(sweep_all(Kind::lossy, true).schemes.size() + sweep_all(Kind::lossy, false).schemes.size(), 13u);
}

}  // namespace
}  // namespace draftproof::adapters
