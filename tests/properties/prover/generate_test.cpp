// Tests the coverage of 500 generated instances of one seed: the sizes, families and degenerate supports that bugs
// need.
#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include <draftproof/properties/prover/path_prover.hpp>
#include <draftproof/properties/prover/prover.hpp>

namespace draftproof {
namespace {

constexpr int instances = 500;

std::size_t support(const std::vector<int>& row) {
  return row.size() - static_cast<std::size_t>(std::count(row.begin(), row.end(), 0));
}

TEST(Generate, InstancesAreValidAndTheSameEveryTime) {
  for (int n = 0; n < instances; ++n) {
    const Instance instance = generate_instance(1, n, 4, n % 2 == 0);
    ASSERT_TRUE(instance.valid()) << instance.text();
    ASSERT_EQ(instance, generate_instance(1, n, 4, n % 2 == 0));
    ASSERT_EQ(std::ssize(instance.proposals), n % 2 == 0 ? instance.drafts : 1);
  }
}

TEST(Generate, SeedsDiffer) {
  int equal = 0;
  for (int n = 0; n < 100; ++n) equal += generate_instance(1, n, 4, false) == generate_instance(2, n, 4, false);
  EXPECT_LE(equal, 5) << "small instances coincide now and then";
}

TEST(Generate, CoversSizesAndSupports) {
  std::set<std::pair<int, int>> sizes;
  int exhausted = 0, residual_left = 0, zero_in_p = 0, zero_in_q = 0;
  for (int n = 0; n < instances; ++n) {
    const Instance instance = generate_instance(1, n, 4, false);
    const std::size_t q = support(instance.proposals.front()), size = instance.target.size();
    sizes.insert({instance.vocabulary(), instance.drafts});
    exhausted += static_cast<int>(q) < instance.drafts;
    residual_left += static_cast<int>(q) > instance.drafts;
    zero_in_p += support(instance.target) < size;
    zero_in_q += q < size;
  }
  for (int drafts = 1; drafts <= 4; ++drafts)
    for (int vocabulary = 2; vocabulary <= (drafts <= 2 ? 8 : drafts == 3 ? 6 : 5); ++vocabulary)
      EXPECT_TRUE(sizes.contains({vocabulary, drafts})) << "V " << vocabulary << " K " << drafts;
  // The required shares are 1/100 for instances in which drafts exhaust q, and 1/10 for the others, far below the
  // expected shares.
  EXPECT_GE(exhausted, instances / 100);
  EXPECT_GE(residual_left, instances / 10);
  EXPECT_GE(zero_in_p, instances / 10);
  EXPECT_GE(zero_in_q, instances / 10);
}

TEST(Generate, RespectsTheMostDraftsAScheme) {
  for (const int most : {1, 2, 3, 9})
    for (int n = 0; n < 100; ++n) ASSERT_LE(generate_instance(3, n, most, false).drafts, std::min(most, 4));
}

TEST(Generate, EveryFamilyTakesItsTurnAndKeepsItsWord) {
  std::map<std::string_view, int> met;
  const auto& generators = registry().generators();
  for (const Generator& generator : generators) {
    InstanceRng dice(5, 7);
    for (int vocabulary = 2; vocabulary <= 8; ++vocabulary) {
      const WeightPair weights = generator.weights(dice, vocabulary);
      ASSERT_EQ(std::ssize(weights.target), vocabulary) << generator.name;
      ASSERT_EQ(std::ssize(weights.proposal), vocabulary) << generator.name;
      for (const auto& row : {weights.target, weights.proposal})
        ASSERT_TRUE(std::all_of(row.begin(), row.end(), [](int w) { return w >= 0; })) << generator.name;
    }
    ++met[generator.name];
  }
  for (const std::string_view name : {"dirichlet", "disjoint", "equal", "last_place", "near", "one_entry",
                                      "one_residual", "ties", "touching", "zeros", "zipf"})
    EXPECT_EQ(met[name], 1);
  // Instances of the family "near" are recognised by weights of p of at least 50.
  const auto near =
      std::find_if(generators.begin(), generators.end(), [](const auto& g) { return g.name == "near"; });
  const auto turn = static_cast<int>(near - generators.begin());
  for (int round = 0; round < 10; ++round) {
    const Instance instance = generate_instance(1, turn + round * static_cast<int>(generators.size()), 4, false);
    EXPECT_GE(*std::min_element(instance.target.begin(), instance.target.end()), 50);
  }
}

TEST(InstanceRng, CoverTheirRange) {
  InstanceRng dice(1, 1);
  std::set<int> seen;
  for (int i = 0; i < 400; ++i) seen.insert(dice.between(-3, 4));
  EXPECT_EQ(*seen.begin(), -3);
  EXPECT_EQ(*seen.rbegin(), 4);
  EXPECT_EQ(seen.size(), 8u);
  EXPECT_EQ(dice.between(5, 5), 5);
}

TEST(Generate, RareFamiliesKeepTheirWordAfterRepairs) {
  const auto& generators = registry().generators();
  std::map<std::string_view, int> met;
  for (int n = 0; n < instances; ++n) {
    const Instance instance = generate_instance(1, n, 4, false);
    const auto& p = instance.target;
    const auto& q = instance.proposals.front();
    const auto rows = instance.rows();
    int common = 0, above = 0, equal = 0;
    for (Token x = 0; x < instance.vocabulary(); ++x) {
      const auto i = static_cast<std::size_t>(x);
      common += p[i] > 0 && q[i] > 0;
      equal += p[i] == q[i];
      above += rows.target(x) > rows.proposal(x);
    }
    const std::string_view family = generators[static_cast<std::size_t>(n) % generators.size()].name;
    if (family == "equal") {
      EXPECT_EQ(p, q) << instance.text();
    }
    if (family == "touching") {
      EXPECT_EQ(common, 1) << instance.text();
    }
    if (family == "one_residual") {
      EXPECT_EQ(above, 1) << instance.text();
    }
    if (family == "last_place") {
      EXPECT_EQ(equal, instance.vocabulary() - 2) << instance.text();
      EXPECT_EQ(Instance::parse(instance.text()), instance);
    }
    ++met[family];
  }
  for (const auto& [family, count] : met) EXPECT_GE(count, instances / 12 - 1) << family;
}

TEST(Generate, PathModelsRepeatRowsAndOpposeThem) {
  int without = 0, repeated = 0, opposed = 0, deep = 0, wide = 0;
  for (int n = 0; n < 400; ++n) {
    const PathInstance model = generate_path_instance(1, n, {});
    without += model.listed_length() == 0;
    deep += model.shape.length == 4 && model.shape.drafts == 1;
    wide += model.shape.drafts > 1 && model.vocabulary() > 2;
    if (model.listed_length() < 2) continue;
    bool by_token = true;
    int heavy_moves = 0, children = 0;
    for (const auto& [prefix, rows] : model.rows) {
      if (prefix.empty()) continue;
      by_token = by_token && rows == model.rows.at({prefix.back()});
      const auto top = [](const std::vector<int>& row) {
        return std::max_element(row.begin(), row.end()) - row.begin();
      };
      const Tokens parent(prefix.begin(), prefix.end() - 1);
      heavy_moves += top(rows.target) != top(model.rows.at(parent).target);
      ++children;
    }
    repeated += by_token;
    opposed += heavy_moves * model.vocabulary() == children * (model.vocabulary() - 1);
  }
  // Each class counted above has about a quarter of the models; `repeated` and `opposed` have a quarter of the models
  // with two levels.
  EXPECT_GE(without, 60);
  EXPECT_GE(repeated, 20);
  EXPECT_GE(opposed, 20);
  EXPECT_GE(deep, 30);
  EXPECT_GE(wide, 60);
}

}  // namespace
}  // namespace draftproof
