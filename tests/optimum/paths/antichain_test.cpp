// The optimum by antichains equals the optimum by trees, without an enumeration of trees.
#include <cmath>

#include <gtest/gtest.h>

#include <draftproof/optimum/paths/antichain_program.hpp>
#include <draftproof/tests/support/golden_path.hpp>
#include <draftproof/tests/support/random_trees.hpp>

namespace draftproof {
namespace {

// Rows are violated by 1e-11 at most, each by Clp's and by the search's antichain_tolerance, and no price exceeds the
// number of prefixes, 14; certificates add 1e-9.
constexpr double antichain_tolerance = 2e-9;

void expect_optimum(const TreeLaw& trees, const std::optional<double>& value) {
  ASSERT_TRUE(value);
  const TreeCertificate certificate = tree_optimum(trees, Sight::one_shot);
  EXPECT_LE(static_cast<double>(certificate.lower), *value + antichain_tolerance);
  EXPECT_GE(static_cast<double>(certificate.upper), *value - antichain_tolerance);
}

/// The full tree of `vocabulary` tokens and `length` levels, all drafted at once.
TreeLaw full_tree(int vocabulary, int length) {
  TreeLaw law{{{-1, no_token, 0, std::vector<Rational>(static_cast<std::size_t>(vocabulary), {1, vocabulary})}}, {}};
  for (std::size_t i = 0; i < law.prefixes.size(); ++i)
    for (Token x = 0; x < vocabulary && law.prefixes[i].depth < length; ++x)
      law.prefixes.push_back({static_cast<int>(i), x, law.prefixes[i].depth + 1, law.prefixes[0].target});
  return law;
}

TEST(Antichains, AreCountedAndVisitedOnceEach) {
  for (const auto& [vocabulary, length, wanted] :
       {std::tuple(2, 1, 3), {2, 2, 24}, {2, 3, 675}, {3, 1, 7}, {3, 2, 728}, {4, 1, 15}}) {
    const TreeLaw law = full_tree(vocabulary, length);
    EXPECT_EQ(antichain_count(law, 1e6), wanted);
    std::set<std::vector<int>> seen;
    for_each_antichain(law, [&](std::span<const int> antichain) {
      for (const int i : antichain)
        for (int u = law.prefixes[static_cast<std::size_t>(i)].parent; u > 0;
             u = law.prefixes[static_cast<std::size_t>(u)].parent)
          EXPECT_EQ(std::count(antichain.begin(), antichain.end(), u), 0);
      EXPECT_TRUE(seen.emplace(antichain.begin(), antichain.end()).second);
    });
    EXPECT_EQ(std::ssize(seen), wanted);
  }
  EXPECT_EQ(antichain_count(full_tree(4, 2), 1e6), 83'520);
  EXPECT_EQ(antichain_count(full_tree(2, 5), 1e6), 1e6 + 1);
}

TEST(Antichains, AreMetByIndependentPathsAsOften) {
  SmallTreeModels models(51);
  for (int i = 0; i < 40; ++i) {
    const SmallTreeModel model = models.next();
    const TreeLaw trees = model.law("iid_paths"), path = model.law("iid_paths", 1);
    // Both number their prefixes by first appearance.
    ASSERT_EQ(trees.prefixes.size(), path.prefixes.size());
    std::map<std::pair<int, Token>, int> children;
    for (std::size_t x = 1; x < path.prefixes.size(); ++x)
      children[{path.prefixes[x].parent, path.prefixes[x].token}] = static_cast<int>(x);
    std::vector<int> same(trees.prefixes.size(), 0);
    for (std::size_t x = 1; x < trees.prefixes.size(); ++x)
      same[x] = children.at({same[static_cast<std::size_t>(trees.prefixes[x].parent)], trees.prefixes[x].token});
    const Meets by_trees = meets_of(trees), by_paths = meets_of_paths(path, model.shape.drafts);
    for_each_antichain(trees, [&](std::span<const int> antichain) {
      std::vector<int> there;
      for (const int x : antichain) there.push_back(same[static_cast<std::size_t>(x)]);
      // Sums of at most 64 trees and a cube: some hundred roundings.
      ASSERT_NEAR(by_trees(antichain), by_paths(there), 1e-13);
    });
  }
}

TEST(Antichains, GiveTheOptimumOfIndependentPathsWithoutTheirTrees) {
  for (const golden::PathCase& c : golden::path_cases()) {
    if (!c.entry.contains("lp_one_shot") || c.entry.contains("tree") || c.entry.contains("branching")) continue;
    if (c.scheme != "block" && c.scheme != "gbv") continue;  // one case a model is enough
    TreeShape one = c.shape;
    one.drafts = 1;
    const auto path = enumerate_tree_law(*path_registry().drafter("iid_paths"), c.model->conditionals(), one);
    const auto value = antichain_optimum(*path, meets_of_paths(*path, c.shape.drafts));
    ASSERT_EQ(value.has_value(), antichain_count(*path, 2e5) <= 2e5) << c.id;
    if (value) {
      EXPECT_NEAR(*value, c.entry.at("lp_one_shot").get<double>(), 1e-7) << c.id;
    }
  }
  SmallTreeModels models(52);
  for (int i = 0; i < 60; ++i) {
    const SmallTreeModel model = models.next();
    const TreeLaw path = model.law("iid_paths", 1);
    expect_optimum(model.law("iid_paths"), antichain_optimum(path, meets_of_paths(path, model.shape.drafts)));
  }
}

TEST(Antichains, GiveTheOptimumOfAnyTrees) {
  SmallTreeModels models(53);
  for (int i = 0; i < 25; ++i) {
    const SmallTreeModel model = models.next();
    for (const auto& drafter : path_registry().drafters()) {
      if (drafter->info().shared_noise()) continue;  // walked as the law it draws, which is on the list
      const TreeLaw law = model.law(drafter->info().name);
      expect_optimum(law, antichain_optimum(law, meets_of(law)));
    }
  }
}

TEST(Antichains, AreTooManySoon) {
  const TreeLaw law = full_tree(2, 3);
  const Meets always = [](std::span<const int>) { return 1.0; };
  EXPECT_FALSE(antichain_optimum(law, always, 674));
  // Every tree holds every prefix: all that the target allows, one token a level.
  EXPECT_NEAR(antichain_optimum(law, always, 675).value(), 3, antichain_tolerance);
}

}  // namespace
}  // namespace draftproof
