// ladder_block_wor: reference values, exactness in fractions for any numbers of children, and never below the walk of
// ladders.
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <draftproof/properties/subjects/path_erased.hpp>
#include <draftproof/sim/drafters/trees/trees.hpp>
#include <draftproof/sim/trees/node_by_node.hpp>
#include <draftproof/tests/support/weighted_models.hpp>
#include <draftproof/verifiers/ladder_wor.hpp>
#include <draftproof/verifiers/paths/ladder_block_wor.hpp>

namespace draftproof {
namespace {

using verifiers::paths::LadderBlockWor;
using LadderWorWalk = NodeByNode<verifiers::LadderWor>;

template <class V>
StepLaw<Rational> wor_tree_law(const ConditionalModel<Rows<Rational>>& conditionals, const TreeShape& shape) {
  PathDeciderOf<V, Rows<Rational>, Explorer<Rational>> decider(V{}, conditionals, shape);
  return explore_step_law<Rows<Rational>>(TreeDrafterOf<tree_drafters::WithoutReplacementTree>(), decider,
                                          conditionals, shape);
}

TreeShape children_of(std::vector<int> children) {
  const int length = static_cast<int>(children.size());
  return {.drafts = children.front(), .length = length, .branching = std::move(children)};
}

TEST(LadderBlockWor, AcceptsTheReferenceNumberOfTokens) {
  std::ifstream file(DRAFTPROOF_SOURCE_DIR "/tests/golden/ladder_wor.json");
  const auto cases = nlohmann::json::parse(file).at("trees");
  ASSERT_EQ(cases.size(), 30u);
  const auto row = [](const nlohmann::json& texts) {
    std::vector<Rational> values;
    for (const auto& text : texts) values.emplace_back(text.get<std::string>());
    return values;
  };
  int walked = 0;
  for (const auto& entry : cases) {
    std::vector<Rows<Rational>> rows;
    for (std::size_t c = 0; c < entry.at("p").size(); ++c) rows.emplace_back(row(entry["p"][c]), row(entry["q"][c]));
    const PrefixTable<Rows<Rational>> conditionals(std::move(rows));
    const TreeShape shape = children_of(entry.at("children").get<std::vector<int>>());
    EXPECT_EQ(wor_tree_law<LadderBlockWor>(conditionals, shape).mean_accepted(),
              Rational(entry.at("ladder_block_accepted").get<std::string>()))
        << entry.dump();
    const auto walk = wor_tree_law<LadderWorWalk>(conditionals, shape);
    if (!walk.complete) continue;  // a walk has more branches, which the explorer's limit cuts
    ++walked;
    EXPECT_EQ(walk.mean_accepted(), Rational(entry.at("ladder_walk_accepted").get<std::string>())) << entry.dump();
  }
  EXPECT_GE(walked, 25);
}

TEST(LadderBlockWor, IsExactInFractionsAndNeverBelowTheWalk) {
  const std::vector<std::vector<int>> shapes{{2}, {1, 1}, {2, 1}, {1, 2}, {2, 2}, {3, 1}, {3, 2}, {2, 2, 1}};
  int above = 0;
  for (const auto& children : shapes)
    for (std::uint32_t seed = 0; seed < 10; ++seed) {
      const int length = static_cast<int>(children.size()), vocabulary = children.front() == 3 ? 3 : 2;
      const auto model = weighted::random_model(vocabulary, length, 4, seed);
      const auto conditionals = model.conditionals<Rational>();
      const auto law = wor_tree_law<LadderBlockWor>(conditionals, children_of(children));
      ASSERT_TRUE(law.complete);
      ASSERT_EQ(law.mass, 1);
      ASSERT_EQ(weighted::completed_error(law, conditionals, length), 0) << model.text();
      const auto walk = wor_tree_law<LadderWorWalk>(conditionals, children_of(children));
      ASSERT_EQ(weighted::completed_error(walk, conditionals, length), 0) << model.text();
      EXPECT_GE(law.mean_accepted(), walk.mean_accepted()) << model.text();
      above += law.mean_accepted() > walk.mean_accepted();
    }
  EXPECT_GT(above, 5);  // equal everywhere would make the comparison vacuous
}

}  // namespace
}  // namespace draftproof
