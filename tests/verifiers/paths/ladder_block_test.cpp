// ladder_block: reference values, exactness in fractions, and equality with known schemes in special cases.
#include <fstream>

#include <gtest/gtest.h>

#include <draftproof/properties/subjects/path_erased.hpp>
#include <draftproof/sim/drafters/trees/paths.hpp>
#include <draftproof/tests/support/chosen_law.hpp>
#include <draftproof/tests/support/golden_path.hpp>
#include <draftproof/tests/support/weighted_models.hpp>
#include <draftproof/verifiers/ladder.hpp>
#include <draftproof/verifiers/paths/block.hpp>
#include <draftproof/verifiers/paths/ladder_block.hpp>

namespace draftproof {
namespace {

using verifiers::paths::Block;
using verifiers::paths::LadderBlock;
using Exact = Rows<Rational>;

TreeShape shape_of(int paths, int length, int stem = 0) {
  return {.drafts = paths, .length = length, .branching = {}, .stem = stem};
}

template <class V, class L, class D = tree_drafters::IidPaths>
StepLaw<typename L::Scalar> law_of(const ConditionalModel<L>& conditionals, const TreeShape& shape) {
  PathDeciderOf<V, L, Explorer<typename L::Scalar>> decider(V{}, conditionals, shape);
  return explore_step_law<L>(TreeDrafterOf<D>(), decider, conditionals, shape);
}

struct LadderSize {
  int vocabulary, length, paths;
};
constexpr LadderSize ladder_sizes[] = {{2, 1, 3}, {2, 2, 1}, {2, 2, 2}, {2, 2, 3}, {3, 2, 2}, {2, 3, 2}, {3, 2, 3}};

TEST(LadderBlock, ChosenLawAndMeansAreTheReferenceOnes) {
  std::ifstream file(DRAFTPROOF_SOURCE_DIR "/tests/golden/ladder.json");
  const auto cases = nlohmann::json::parse(file).at("paths");
  ASSERT_EQ(cases.size(), 96u);
  double largest = 0;
  int above = 0, below = 0;
  for (const auto& entry : cases) {
    const golden::PathModel& model = golden::path_models().at(entry.at("model"));
    const auto conditionals = model.conditionals();
    const int paths = entry.at("K");
    const std::string name = entry.at("model").get<std::string>() + ", K = " + std::to_string(paths);
    std::map<Tokens, double> wanted;
    for (const auto& [text, probability] : entry.at("selected_path_law").items())
      wanted[golden::tokens_of(text)] = probability;
    // Both programs add products of a dozen factors in double; the file promises 1e-12.
    walk_choices(conditionals, paths, model.length, [&](const Tokens& tokens, const auto* node, double chosen) {
      if (node) return;
      EXPECT_NEAR(chosen, wanted[tokens], 1e-12) << name;
      largest = std::max(largest, std::abs(chosen - wanted[tokens]));
      wanted.erase(tokens);
    });
    for (const auto& [tokens, probability] : wanted) EXPECT_NEAR(probability, 0, 1e-12) << name;
    const double mean = planned_mean_accepted(conditionals, paths, model.length);
    EXPECT_NEAR(mean, entry.at("E_tau"), 1e-12) << name;
    const double greedy = entry.at("E_tau_gbv");
    above += mean > greedy + 1e-9;
    below += mean < greedy - 1e-9;
  }
  std::cout << "largest deviation " << largest << "; against greedy multi-path: " << above << " above, " << below
            << " below\n";
  EXPECT_EQ(below, 0);  // on these models; docs/ladder.md on others
  EXPECT_GT(above, 40);
}

TEST(LadderBlock, IsExactInFractions) {
  for (const LadderSize& size : ladder_sizes)
    for (std::uint32_t seed = 0; seed < 12; ++seed) {
      const auto model = weighted::random_model(size.vocabulary, size.length, 3, seed);
      const auto conditionals = model.conditionals<Rational>();
      const auto law = law_of<LadderBlock>(conditionals, shape_of(size.paths, size.length));
      ASSERT_TRUE(law.complete);
      ASSERT_EQ(law.mass, 1);
      ASSERT_EQ(weighted::completed_error(law, conditionals, size.length), 0)
          << model.text() << ", K = " << size.paths;
      // The same mean from the plans only: block verification with the law of the chosen path.
      ASSERT_EQ(law.mean_accepted(), planned_mean_accepted(conditionals, size.paths, size.length)) << model.text();
    }
}

TEST(LadderBlock, NeverAcceptsMoreThanIsDraftedOrWanted) {
  // A prefix is accepted with at most its draft probability and at most its target probability.
  for (const LadderSize& size : ladder_sizes)
    for (std::uint32_t seed = 0; seed < 100; ++seed) {
      const auto conditionals =
          weighted::random_model(size.vocabulary, size.length, 4, seed).conditionals<Rational>();
      Rational bound = 0;
      const auto add = [&](const auto& self, int context, int depth, const Rational& p, const Rational& q) -> void {
        if (depth > 0) {
          Rational missed = 1;
          for (int k = 0; k < size.paths; ++k) missed *= 1 - q;
          bound += std::min<Rational>(p, 1 - missed);
        }
        if (depth == size.length) return;
        const auto& laws = conditionals.laws(context);
        for (Token y = 0; y < size.vocabulary; ++y)
          self(self, conditionals.next(context, y), depth + 1, Rational(p * laws.target(y)),
               Rational(q * laws.proposal(y)));
      };
      add(add, 0, 0, 1, 1);
      ASSERT_LE(planned_mean_accepted(conditionals, size.paths, size.length), bound);
    }
}

TEST(LadderBlock, OnePathIsBlockVerificationEventByEvent) {
  for (const int vocabulary : {2, 3})
    for (const int length : {1, 2, 3})
      for (std::uint32_t seed = 0; seed < 20; ++seed) {
        const auto conditionals = weighted::random_model(vocabulary, length, 3, seed).conditionals<Rational>();
        const auto shape = shape_of(1, length);
        EXPECT_EQ(law_of<LadderBlock>(conditionals, shape).emitted, law_of<Block>(conditionals, shape).emitted);
      }
}

TEST(LadderBlock, OneTokenIsTheLadder) {
  for (const int paths : {1, 2, 3, 4})
    for (std::uint32_t seed = 0; seed < 100; ++seed) {
      const auto conditionals = weighted::random_model(3, 1, 4, seed).conditionals<Rational>();
      const verifiers::Ladder::Core<Exact> ladder(conditionals.laws(0), paths);
      EXPECT_EQ(planned_mean_accepted(conditionals, paths, 1), ladder.plan.acceptance);
    }
}

TEST(LadderBlock, EqualLawsAreAcceptedWhole) {
  for (const int paths : {1, 2, 3, 5}) {
    for (std::uint32_t seed = 0; seed < 30; ++seed) {
      auto model = weighted::random_model(3, 3, 5, seed);
      model.target = model.proposal;
      EXPECT_EQ(planned_mean_accepted(model.conditionals<Rational>(), paths, 3), 3);
      const auto conditionals = model.conditionals<double>();
      EXPECT_NEAR(planned_mean_accepted(conditionals, paths, 3), 3, 1e-12);  // sums of 27 products of 3
    }
  }
}

TEST(LadderBlock, RoundingOfEqualLawsLeavesSomethingToEmit) {
  // Rows of double whose sum misses 1 by an ulp give the chosen law a factor of 1 + 2^-52. The refusal that this
  // makes possible would have an empty residual, and the explorer would throw: it does on 17 of 200 such models if
  // the plan does not detect that the residual is empty.
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    auto model = weighted::random_model(16, 1, 99, seed);
    model.target = model.proposal;
    EXPECT_NEAR((law_of<LadderBlock>(model.conditionals<double>(), shape_of(2, 1)).mean_accepted()), 1, 1e-12);
  }
}

TEST(LadderBlock, PathsMayPartAfterAStem) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const auto model = weighted::random_model(2, 3, 3, seed);
    const auto conditionals = model.conditionals<Rational>();
    for (const int stem : {1, 2, 3}) {
      const auto law = law_of<LadderBlock, Exact, tree_drafters::DelayedPaths>(conditionals, shape_of(2, 3, stem));
      ASSERT_EQ(weighted::completed_error(law, conditionals, 3), 0) << model.text() << ", stem " << stem;
    }
  }
}

}  // namespace
}  // namespace draftproof
