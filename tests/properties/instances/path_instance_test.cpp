// Tests that instances for paths print and parse without loss, report errors of a text, lay out their contexts, and
// shrink to strictly smaller instances; and tests the range of a proof's instances.
#include <numeric>
#include <set>
#include <stdexcept>
#include <tuple>

#include <gtest/gtest.h>

#include <draftproof/properties/prover/path_prover.hpp>

namespace draftproof {
namespace {

constexpr PathSizes every_shape{.stem = true, .branches = true, .fixed_children = true, .nodes = true};

template <class Visit>
void for_each_generated(Visit visit) {
  for (const PathSizes& sizes :
       {PathSizes{}, PathSizes{.most_drafts = 1}, PathSizes{.stem = true}, PathSizes{.branches = true},
        PathSizes{.most_drafts = 6, .fixed = true}, every_shape})
    for (int n = 0; n < 60; ++n) visit(generate_path_instance(7, n, sizes));
}

TEST(PathInstance, ReadsTheFormOfItsHeader) {
  const PathInstance expected{.shape = {.drafts = 1, .length = 2, .branching = {}, .stem = 0},
                              .rows = {{{}, {{1, 2}, {2, 1}}}, {{0}, {{1, 1}, {1, 0}}}}};
  const std::string text = "L=2 K=1 [] p=(1 2)/3 q=(2 1)/3 [0] p=(1 1)/2 q=(1 0)/1";
  EXPECT_EQ(PathInstance::parse(text), expected);
  EXPECT_EQ(expected.text(), text);
  EXPECT_EQ(PathInstance::parse(" L=2 K=1 [ ] p=( 1 2) q=(2 1)  [0 ] p=(1 1) q=(1 0) "), expected);
  const PathInstance shaped = PathInstance::parse("L=2 K=3 stem=1 branching=(2 1) [] p=(1 1)/2 q=(1 1)/2");
  EXPECT_EQ(shaped.shape, (TreeShape{.drafts = 3, .length = 2, .branching = {2, 1}, .stem = 1}));
  EXPECT_EQ(shaped.text(), "L=2 K=3 stem=1 branching=(2 1) [] p=(1 1)/2 q=(1 1)/2");
  const PathInstance hybrid = PathInstance::parse("L=2 K=3 fixed=2 branching=(3 1) [] p=(1 1)/2 q=(1 1)/2");
  EXPECT_EQ(hybrid.shape, (TreeShape{.drafts = 3, .length = 2, .branching = {3, 1}, .fixed = 2}));
  EXPECT_EQ(hybrid.text(), "L=2 K=3 fixed=2 branching=(3 1) [] p=(1 1)/2 q=(1 1)/2");
}

TEST(PathInstance, APrefixThatIsNotListedHasTheRowsOfTheOneBefore) {
  const auto instance = PathInstance::parse("L=3 K=1 [] p=(1 2) q=(2 1) [1] p=(1 3) q=(1 1) [0 1] p=(5 1) q=(1 1)");
  const auto conditionals = instance.conditionals();
  const auto target_of_0 = [&](const Tokens& prefix) {
    int context = 0;
    for (const Token x : prefix) context = conditionals.next(context, x);
    EXPECT_EQ(conditionals.distributions(context).target(0), normalised(instance.after(prefix).target).front());
    return conditionals.distributions(context).target(0);
  };
  EXPECT_EQ(target_of_0({}), Rational(1, 3));
  EXPECT_EQ(target_of_0({0}), Rational(1, 3));
  EXPECT_EQ(target_of_0({1}), Rational(1, 4));
  EXPECT_EQ(target_of_0({1, 0}), Rational(1, 4));
  EXPECT_EQ(target_of_0({0, 1}), Rational(5, 6));
  EXPECT_EQ(target_of_0({0, 0}), Rational(1, 3));
  EXPECT_EQ(target_of_0({0, 1, 1}), Rational(5, 6)) << "beyond the longest listed prefix";
}

TEST(PathInstance, SaysWhatItFoundAndWanted) {
  const auto expect = [](std::string_view text, std::string_view part) {
    std::string complaint = "accepted";
    try {
      PathInstance::parse(text);
    } catch (const std::invalid_argument& error) {
      complaint = error.what();
    }
    EXPECT_NE(complaint.find(part), std::string::npos) << text << ": " << complaint;
  };
  expect("", "\"L=\"");
  expect("p=(1 1)/2 q=(1 1)/2 K=1", "got \"p=(1 1)/2 q=(1 1)/2 \", expected \"L=\"");
  expect("L=0 K=1 [] p=(1) q=(1)", "got L=0, expected 1 to");
  expect("L=33 K=1 [] p=(1) q=(1)", "got L=33");
  expect("L=1 [] p=(1) q=(1)", "\"K=\"");
  expect("L=1 K=0 [] p=(1) q=(1)", "got K=0");
  expect("L=1 K=1 stem=2 [] p=(1) q=(1)", "got stem=2, expected 0 to 1");
  expect("L=1 K=1 fixed=33 [] p=(1) q=(1)", "got fixed=33, expected 0 to 32");
  expect("L=2 K=1 branching=(1) [] p=(1) q=(1)", "got branching=(1), expected 2 numbers");
  expect("L=1 K=1 branching=(0) [] p=(1) q=(1)", "got branching=(0)");
  expect("L=1 K=1", "\"[\"");
  expect("L=1 K=1 [0] p=(1) q=(1)", "got rows of [0] first, expected rows of []");
  expect("L=1 K=1 [] p=(1) q=(1) [] p=(1) q=(1)", "got rows of [] again");
  expect("L=1 K=1 [] p=(1) q=(1) [0] p=(1) q=(1) [0] p=(1) q=(1)", "got rows of [0] again");
  expect("L=1 K=1 [] p=(1) q=(1) [0 0] p=(1) q=(1)", "got rows of [0 0], expected prefixes of at most L=1");
  expect("L=1 K=1 [] p=(1 1) q=(1 1) [2] p=(1 1) q=(1 1)", "prefixes of their tokens");
  expect("L=1 K=1 [] p=(1 1) q=(1 1) [0] p=(1 1 1) q=(1 1)", "one length");
  expect("L=1 K=1 [] p=(0 0) q=(1 1)", "positive");
  expect("L=1 K=1 [] p=() q=()", "positive");
  expect("L=1 K=1 [] q=(1 1)", "\"p=\"");
  expect("L=1 K=1 [] p=(1 1)/3 q=(1 1)", "sum to 2");
  expect("L=1 K=1 [] p=(1 1) q=(1 1) and more", "the end");
  expect("L=20 K=1 [] p=(1 1) q=(1 1) [0 0 0 0 0 0 0 0 0 0 0 0 0 0 0] p=(1 1) q=(1 1)", "prefixes of 15 tokens");
}

/// Returns a tuple that every step of shrinking lowers in lexicographic order, so that shrinking ends.
auto size_of(const PathInstance& instance) {
  const auto& shape = instance.shape;
  long weight = 0;
  for (const auto& [prefix, weights] : instance.rows)
    for (const auto* row : {&weights.target, &weights.proposal})
      weight = std::accumulate(row->begin(), row->end(), weight);
  return std::tuple(shape.length, shape.branching.size(), shape.drafts,
                    std::accumulate(shape.branching.begin(), shape.branching.end(), 0), shape.stem, shape.fixed,
                    shape.nodes, instance.vocabulary(), instance.rows.size(), weight);
}

TEST(GeneratedPaths, ReadBackFromTextAndShrinkToValidSmallerOnes) {
  for_each_generated([](const PathInstance& instance) {
    ASSERT_TRUE(instance.valid()) << instance.text();
    ASSERT_EQ(PathInstance::parse(instance.text()), instance) << instance.text();
    for (const PathInstance& candidate : shrinks(instance)) {
      ASSERT_TRUE(candidate.valid()) << candidate.text();
      ASSERT_LT(size_of(candidate), size_of(instance)) << instance.text() << "\n" << candidate.text();
    }
  });
}

TEST(SimplerPaths, ReachesTheSimplestInstanceFromAnywhere) {
  PathInstance instance = PathInstance::parse(
      "L=3 K=2 stem=1 fixed=2 branching=(2 1 2) [] p=(3 1 0) q=(1 1 1) [2] p=(1 1 5) q=(0 0 1) [2 0] p=(1 2 3) q=(3 "
      "2 1)");
  while (true) {
    const auto candidates = shrinks(instance);
    if (candidates.empty()) break;
    instance = candidates.back();
  }
  EXPECT_EQ(instance.text(), "L=1 K=1 [] p=(1)/1 q=(1)/1");
}

TEST(SimplerPaths, OffersToStartLaterAndToForget) {
  const auto candidates = shrinks(PathInstance::parse("L=2 K=1 [] p=(1 1) q=(1 1) [1] p=(0 1) q=(1 0)"));
  const auto offers = [&](std::string_view text) {
    for (const auto& candidate : candidates)
      if (candidate.text() == text) return true;
    return false;
  };
  EXPECT_TRUE(offers("L=1 K=1 [] p=(0 1)/1 q=(1 0)/1")) << "after token 1";
  EXPECT_TRUE(offers("L=2 K=1 [] p=(1 1)/2 q=(1 1)/2")) << "without context";
  EXPECT_TRUE(offers("L=2 K=1 [] p=(1)/1 q=(1)/1 [0] p=(1)/1 q=(0)/0") == false) << "a row without weight";
  EXPECT_TRUE(offers("L=2 K=1 [] p=(2)/2 q=(2)/2 [0] p=(1)/1 q=(1)/1")) << "tokens 0 and 1 merged";
}

TEST(GeneratePaths, SameSeedSameInstanceWithinTheSizes) {
  int without_context = 0, deepest = 0;
  std::set<std::tuple<int, int, int>> sizes;
  for (int n = 0; n < BlockLevel::instances; ++n) {
    const PathInstance instance = generate_path_instance(1, n, {});
    ASSERT_EQ(instance, generate_path_instance(1, n, {}));
    const int tokens = instance.shape.drafts * instance.shape.length;
    int trees = 1;
    for (int i = 0; i < tokens; ++i) trees *= instance.vocabulary();
    ASSERT_LE(trees, 4 * PathSizes{}.most_trees) << instance.text();
    without_context += instance.listed_length() == 0;
    deepest += instance.listed_length() == instance.shape.length;
    sizes.insert({instance.vocabulary(), instance.shape.drafts, instance.shape.length});
  }
  // One half of the instances is expected to have the same rows after every prefix, and about one quarter to have
  // separate rows after all prefixes; one tenth is many standard deviations below.
  EXPECT_GE(without_context, BlockLevel::instances / 10);
  EXPECT_GE(deepest, BlockLevel::instances / 10);
  for (const auto& size : {std::tuple(2, 3, 2), std::tuple(3, 2, 2), std::tuple(3, 1, 4), std::tuple(4, 1, 3)})
    EXPECT_TRUE(sizes.contains(size)) << std::get<0>(size) << std::get<1>(size) << std::get<2>(size);
}

}  // namespace
}  // namespace draftproof
