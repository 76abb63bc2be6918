#include <draftproof/adapters/gate/small_model.hpp>

#include <numeric>
#include <set>

#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/tests/support/adapters_messages.hpp>

namespace draftproof::adapters {
namespace {

using SmallModelRow = std::vector<double>;
using SmallModelRows = std::vector<SmallModelRow>;

SmallModel position_small_model(const char* text, const char* distribution) {
  return small_model_of(Instance::parse(text), distribution);
}
SmallModel path_small_model(const char* text, const char* distribution, Level level) {
  return small_model_of(PathInstance::parse(text), distribution, level);
}

double drawn_in(const SmallModel& small_model) {
  return std::accumulate(small_model.drawn.begin(), small_model.drawn.end(), 0.0);
}

/// Returns the index of the input with these drafts and parents.
std::size_t place_of(const SmallModel& small_model, const std::vector<Token>& drafts,
                     const std::vector<int>& parents = {}) {
  for (std::size_t i = 0; i < small_model.inputs.size(); ++i)
    if (small_model.inputs[i].drafts == drafts && small_model.inputs[i].parents == parents) return i;
  ADD_FAILURE() << "no such input";
  return 0;
}

TEST(SmallModel, PositionHasATupleOfTheDistributionEach) {
  const SmallModel small_model = position_small_model("p=(1 3)/4 q=(3 1)/4 K=2", "iid");
  EXPECT_EQ(small_model.length, 1);
  EXPECT_EQ(small_model.vocabulary, 2);
  EXPECT_EQ(small_model.text, "p=(1 3)/4 q=(3 1)/4 K=2");
  ASSERT_EQ(small_model.inputs.size(), 4u);
  const SmallModelRow p{.25, .75}, q{.75, .25};
  for (const Input& input : small_model.inputs) EXPECT_EQ(input, (Input{.p = {p}, .q = {q}, .drafts = input.drafts}));
  EXPECT_EQ(small_model.drawn[place_of(small_model, {0, 0})], 9. / 16);
  EXPECT_EQ(small_model.drawn[place_of(small_model, {0, 1})], 3. / 16);
  EXPECT_EQ(small_model.drawn[place_of(small_model, {1, 0})], 3. / 16);
  EXPECT_EQ(small_model.drawn[place_of(small_model, {1, 1})], 1. / 16);
  EXPECT_EQ(small_model.target({}), p);
  // Both drafts are token 0 with probability 9/16, but p(0) = 1/4 limits how often token 0 is emitted. In all other
  // cases a draft can be accepted.
  EXPECT_EQ(small_model.optimum, 1. / 4 + 7. / 16);
}

TEST(SmallModel, TuplesBeyondTheLimitAreNoSmallModel) {
  const Instance instance = Instance::parse("p=(1 3)/4 q=(3 1)/4 K=2");
  EXPECT_EQ(small_model_of(instance, "iid", {.leaves = 4}).inputs.size(), 4u);
  EXPECT_EQ(error_of([&] { small_model_of(instance, "iid", {.leaves = 3}); }),
            "draft sampling iid: too many tuples on p=(1 3)/4 q=(3 1)/4 K=2");
}

TEST(SmallModel, AnUnknownDraftSamplingIsNoLackOfSmallModels) {
  const Declaration position{.name = "any", .level = Level::position, .fewest_drafts = 5};
  EXPECT_NE(why_no_small_model(position), "");
  const Declaration unknown{.name = "any", .draft_sampling = "no such one"};
  EXPECT_NE(error_of([&] { external_path_instance(unknown, 0, 0); }), "");
  EXPECT_EQ(why_no_small_model(unknown), "");
}

TEST(SmallModel, DraftsWithoutReplacementEndWithTheSupport) {
  const SmallModel small_model = position_small_model("p=(1 3 1)/5 q=(3 1 0)/4 K=3", "without_replacement");
  ASSERT_EQ(small_model.inputs.size(), 2u);
  EXPECT_EQ(small_model.drawn[place_of(small_model, {0, 1})], .75);
  EXPECT_EQ(small_model.drawn[place_of(small_model, {1, 0})], .25);
  EXPECT_EQ(small_model.optimum, .8);  // p(0) + p(1), because tokens 0 and 1 are always drafted
}

TEST(SmallModel, EveryDraftHasItsProposalWhereTheDistributionHasSeveral) {
  const SmallModel small_model = position_small_model("p=(1 1)/2 q=(1 0)/1 q=(1 3)/4 K=2", "independent");
  ASSERT_EQ(small_model.inputs.size(), 2u);
  EXPECT_EQ(small_model.inputs[0].q, (SmallModelRows{{1, 0}, {.25, .75}}));
  EXPECT_EQ(small_model.drawn[place_of(small_model, {0, 0})], .25);
  EXPECT_EQ(small_model.drawn[place_of(small_model, {0, 1})], .75);
}

TEST(SmallModel, ChainHasARowForEachPrefixAndNoParents) {
  const SmallModel small_model =
      path_small_model("L=2 K=1 [] p=(1 1)/2 q=(1 3)/4 [1] p=(1 0)/1 q=(1 1)/2", "iid", Level::chain);
  EXPECT_EQ(small_model.length, 3);
  EXPECT_FALSE(small_model.optimum.has_value());
  ASSERT_EQ(small_model.inputs.size(), 4u);
  const SmallModelRow half{.5, .5}, q{.25, .75}, sure{1, 0};
  const std::size_t at = place_of(small_model, {0, 1});  // the instance has no row of [0], so the rows of [] are used
  EXPECT_EQ(small_model.inputs[at], (Input{.p = {half, half, half}, .q = {q, q}, .drafts = {0, 1}}));
  EXPECT_EQ(small_model.drawn[at], 3. / 16);
  const std::size_t other = place_of(small_model, {1, 0});
  EXPECT_EQ(small_model.inputs[other], (Input{.p = {half, sure, sure}, .q = {q, half}, .drafts = {1, 0}}));
  EXPECT_EQ(small_model.drawn[other], 3. / 8);
  EXPECT_EQ(small_model.drawn[place_of(small_model, {0, 0})], 1. / 16);
  EXPECT_EQ(small_model.drawn[place_of(small_model, {1, 1})], 3. / 8);
  EXPECT_EQ(small_model.target({}), half);
  EXPECT_EQ(small_model.target({1, 0}), sure);
  EXPECT_EQ(small_model.target({0}), half);
}

TEST(SmallModel, TreeHasAnEntryForEachDrawAndRepeatsHaveNoChildren) {
  const SmallModel small_model =
      path_small_model("L=2 K=2 [] p=(1 3)/4 q=(1 1)/2 [0] p=(1 1)/2 q=(1 0)/1", "iid_paths", Level::tree);
  EXPECT_EQ(small_model.length, 3);
  // The paths are (0 0), (1 0) and (1 1) with probabilities 1/2, 1/4 and 1/4, so there are nine pairs.
  ASSERT_EQ(small_model.inputs.size(), 9u);
  const SmallModelRow p{.25, .75}, half{.5, .5}, sure{1, 0};
  // This input has the path (0 0) twice. The first draft of the second path repeats draft 0, so the next draft has
  // draft 0 as parent.
  const std::size_t twice = place_of(small_model, {0, 0, 0, 0}, {-1, 0, -1, 0});
  EXPECT_EQ(small_model.drawn[twice], 1. / 4);
  EXPECT_EQ(small_model.inputs[twice].p, (SmallModelRows{p, half, half, half, half}));
  EXPECT_EQ(small_model.inputs[twice].q, (SmallModelRows{half, sure, half, sure}));
  // This input has two paths that share only the root.
  const std::size_t apart = place_of(small_model, {0, 0, 1, 1}, {-1, 0, -1, 2});
  EXPECT_EQ(small_model.drawn[apart], 1. / 8);
  EXPECT_EQ(small_model.inputs[apart].p, (SmallModelRows{p, half, half, p, p}));
  EXPECT_EQ(small_model.inputs[apart].q, (SmallModelRows{half, sure, half, half}));
  // This input has two paths that share token 1.
  EXPECT_EQ(small_model.drawn[place_of(small_model, {1, 0, 1, 1}, {-1, 0, -1, 0})], 1. / 16);
}

TEST(SmallModel, ProbabilitiesSumToOne) {
  for (const char* distribution : {"iid", "without_replacement"})
    for (int n = 0; n < 30; ++n) {
      const SmallModel small_model = small_model_of(
          external_instance({.name = "any", .level = Level::position, .draft_sampling = distribution}, 7, n),
          distribution);
      EXPECT_NEAR(drawn_in(small_model), 1, 0x1p-48) << small_model.text;
    }
  for (const Level level : {Level::chain, Level::tree})
    for (int n = 0; n < 30; ++n) {
      const Declaration any{.name = "any", .level = level, .draft_sampling = "iid_paths"};
      const SmallModel small_model = small_model_of(external_path_instance(any, 7, n), any.draft_sampling, level);
      EXPECT_NEAR(drawn_in(small_model), 1, 0x1p-48) << small_model.text;
      std::set<std::pair<std::vector<Token>, std::vector<int>>> distinct;
      for (const Input& input : small_model.inputs) distinct.insert({input.drafts, input.parents});
      EXPECT_EQ(distinct.size(), small_model.inputs.size()) << small_model.text;
    }
}

TEST(SmallModel, RefusesDistributionsThatAreNone) {
  EXPECT_EQ(error_of([] { position_small_model("p=(1 1)/2 q=(1 1)/2 K=1", "nothing"); }),
            "draft_sampling: got \"nothing\", expected a draft sampling of `draftproof list`");
  EXPECT_EQ(error_of([] { path_small_model("L=1 K=1 [] p=(1 1)/2 q=(1 1)/2", "iid", Level::tree); }),
            "draft_sampling: got \"iid\", expected a tree sampling of `draftproof list`");
  EXPECT_EQ(error_of([] { position_small_model("p=(1 1)/2 q=(1 1)/2 K=2", "independent"); }),
            "draft sampling independent: has no drafts on p=(1 1)/2 q=(1 1)/2 K=2");
}

/// A case of the test: numbers of drafts that a program declares, a small model, and whether the program supports it.
struct Taken {
  Level level;
  const char* distribution;
  int fewest, most;
  const char* text;
  bool taken;
  const char* about = "";
};

TEST(Takes, ModelsWithinTheDeclaredNumbers) {
  const char *three = "p=(1 1)/2 q=(1 1)/2 K=3", *two = "p=(1 1)/2 q=(1 1)/2 K=2", *one = "p=(1 1)/2 q=(1 1)/2 K=1";
  const auto position = Level::position, chain = Level::chain, tree = Level::tree;
  const char *single = "L=1 K=1 [] p=(1 1)/2 q=(1 1)/2", *pair = "L=2 K=1 [] p=(1 1)/2 q=(1 1)/2",
             *path = "L=3 K=1 [] p=(1 1)/2 q=(1 1)/2", *paths = "L=3 K=2 [] p=(1 1)/2 q=(1 1)/2",
             *pairs = "L=2 K=2 [] p=(1 1)/2 q=(1 1)/2";
  for (const Taken& row : std::vector<Taken>{
           {position, "iid", 1, 0, three, true},
           {position, "iid", 1, 2, three, false},
           {position, "iid", 1, 2, two, true},
           {position, "iid", 2, 2, one, false},
           {position, "independent", 2, 2, two, false},
           {position, "independent", 2, 2, "p=(1 1)/2 q=(1 1)/2 q=(1 0)/1 K=2", true},
           {position, "without_replacement", 2, 2, two, true},
           {position, "without_replacement", 2, 2, "p=(1 1)/2 q=(1 0)/1 K=2", false, "q has one token"},
           {chain, "iid", 1, 0, path, true},
           {chain, "iid", 1, 0, paths, false},
           {chain, "iid", 1, 2, path, false},
           {chain, "iid", 2, 2, single, false},
           {tree, "iid_paths", 1, 4, pairs, true},
           {tree, "iid_paths", 1, 4, paths, false},
           {tree, "iid_paths", 3, 4, pair, false},
       }) {
    SCOPED_TRACE(std::string(row.distribution) + ' ' + row.text + row.about);
    const Declaration declaration{.name = "any",
                                  .level = row.level,
                                  .draft_sampling = row.distribution,
                                  .fewest_drafts = row.fewest,
                                  .most_drafts = row.most};
    EXPECT_EQ(row.level == position ? takes(declaration, Instance::parse(row.text))
                                    : takes(declaration, PathInstance::parse(row.text)),
              row.taken);
  }
  // Each node has two children down to depth three, so the tree has 2 + 4 + 8 nodes.
  const auto branching = [](int fewest, int most, const char* text) {
    PathInstance instance = PathInstance::parse(text);
    instance.shape.branching = {2, 2, 2};
    return takes({.name = "tree",
                  .level = Level::tree,
                  .draft_sampling = "without_replacement_tree",
                  .fewest_drafts = fewest,
                  .most_drafts = most},
                 instance);
  };
  EXPECT_FALSE(branching(1, 13, path));
  EXPECT_TRUE(branching(1, 14, path));
  EXPECT_TRUE(branching(14, 14, path));
  EXPECT_FALSE(branching(14, 14, "L=3 K=1 [] p=(1 1)/2 q=(1 0)/1")) << "one child: q has no other token";
}

/// The values of V, K and L of 60 generated instances, and the numbers of drafts in their inputs.
struct Generated {
  std::set<int> vocabularies{}, drafts{}, lengths{}, entries{};
};

Generated generated(const Declaration& declaration) {
  Generated seen;
  for (int n = 0; n < 60; ++n) {
    SmallModel small_model;
    if (declaration.level == Level::position) {
      const Instance instance = external_instance(declaration, 1, n);
      EXPECT_TRUE(takes(declaration, instance)) << instance.text();
      seen.drafts.insert(instance.drafts);
      small_model = small_model_of(instance, declaration.draft_sampling);
    } else {
      const PathInstance instance = external_path_instance(declaration, 1, n);
      EXPECT_TRUE(takes(declaration, instance)) << instance.text();
      seen.drafts.insert(instance.shape.drafts);
      seen.lengths.insert(instance.shape.length);
      small_model = small_model_of(instance, declaration.draft_sampling, declaration.level);
    }
    seen.vocabularies.insert(small_model.vocabulary);
    for (const Input& input : small_model.inputs) seen.entries.insert(static_cast<int>(input.drafts.size()));
  }
  return seen;
}

TEST(ExternalInstances, HaveTheSizesThatCallsCanExplore) {
  struct Sizes {
    Level level;
    const char* distribution;
    std::set<int> drafts, lengths;
  };
  for (const auto& [level, distribution, drafts, lengths] : {Sizes{Level::position, "iid", {1, 2, 3}, {}},
                                                             {Level::chain, "iid", {1}, {1, 2, 3, 4, 6}},
                                                             {Level::tree, "iid_paths", {1, 2, 3}, {1, 2, 3}}}) {
    const Generated seen = generated({.name = "any", .level = level, .draft_sampling = distribution});
    EXPECT_EQ(seen.vocabularies, (std::set{2, 3, 4}));
    EXPECT_EQ(seen.drafts, drafts);
    EXPECT_EQ(seen.lengths, lengths);
  }
}

TEST(ExternalInstances, ObeyEveryDeclaration) {
  const auto obeys = [](Level level, std::string_view distribution, int fewest, int most, int most_of_all) {
    const Generated seen = generated({.name = "any",
                                      .level = level,
                                      .draft_sampling = std::string(distribution),
                                      .fewest_drafts = fewest,
                                      .most_drafts = most});
    EXPECT_GE(*seen.entries.begin(), fewest) << distribution;
    EXPECT_LE(*seen.entries.rbegin(), most > 0 ? most : most_of_all) << distribution;
    return *seen.entries.begin();
  };
  for (const auto& distribution : registry().drafters()) {
    const auto& info = distribution->info();
    if (info.misdeclares()) continue;
    for (const int most : {0, 2, 3, 5}) {
      const int fewest = std::max(info.fewest_drafts, most == 3 ? 2 : 1);
      if ((most > 0 && most < fewest) || (info.most_drafts > 0 && fewest > info.most_drafts)) continue;
      obeys(Level::position, info.name, fewest, most, 4);
    }
  }
  for (const auto& distribution : path_registry().drafters())
    for (const int most : {0, 2, 4, 7})
      for (const int fewest : {1, 2}) obeys(Level::tree, distribution->info().name, fewest, most, 14);
  for (const int fewest : {1, 2, 4}) EXPECT_EQ(obeys(Level::chain, "iid", fewest, 0, 6), fewest);
}

/// Returns the largest number of tokens before two siblings of a tree, -1 if no node has siblings.
int deepest_siblings(const Input& input) {
  int deepest = -1;
  std::vector<int> tokens;  // of the path to each node
  for (std::size_t u = 0; u < input.parents.size(); ++u) {
    const int parent = input.parents[u];
    tokens.push_back(parent < 0 ? 1 : tokens[static_cast<std::size_t>(parent)] + 1);
    if (std::count(input.parents.begin(), input.parents.end(), parent) > 1)
      deepest = std::max(deepest, tokens.back() - 1);
  }
  return deepest;
}

// With two tokens, one is left after a refusal, so that a wrong test of a second sibling changes nothing.
TEST(ExternalInstances, SomeHaveSiblingsAtEveryLevelAndThreeTokens) {
  const Declaration paths{.name = "any", .level = Level::tree, .draft_sampling = "iid_paths"};
  for (const std::uint64_t seed : {1, 2, 3}) {
    int after_one = 0, after_two = 0;
    for (int n = 0; n < 120; ++n) {
      const PathInstance instance = external_path_instance(paths, seed, n);
      if (instance.vocabulary() < 3) continue;
      int deepest = -1;
      for (const Input& input : small_model_of(instance, paths.draft_sampling, paths.level).inputs)
        deepest = std::max(deepest, deepest_siblings(input));
      after_one += deepest == 1;
      after_two += deepest == 2;
    }
    EXPECT_GE(after_one, 4) << seed;
    EXPECT_GE(after_two, 3) << seed;
  }
}

TEST(ExternalInstances, SayWhereThereAreNone) {
  const auto position = [](int fewest, int most) {
    return error_of([&] {
      external_instance({.name = "odd", .level = Level::position, .fewest_drafts = fewest, .most_drafts = most}, 1,
                        0);
    });
  };
  EXPECT_EQ(position(4, 0), "none");
  EXPECT_EQ(position(5, 0), "no small model is within its declaration: draft sampling iid, at least 5 drafts");
  EXPECT_EQ(position(2, 1), "no small model is within its declaration: draft sampling iid, 2 to 1 drafts");
  EXPECT_EQ(
      error_of([] { external_path_instance({.name = "odd", .level = Level::chain, .fewest_drafts = 5}, 1, 0); }),
      "no small model is within its declaration: draft sampling iid, at least 5 drafts");
}

TEST(SmallModel, AMisspeltDistributionIsRefusedWithTheNearestName) {
  const auto refusal = [](Level level, const std::string& distribution,
                          std::vector<std::string> functions = {"verify"}) {
    return error_of([&] {
      check_draft_sampling(
          {.name = "mine", .level = level, .draft_sampling = distribution, .functions = std::move(functions)});
    });
  };
  EXPECT_EQ(refusal(Level::chain, "idd"),
            "mine: hello: draft_sampling: got \"idd\", expected iid or a tree sampling of `draftproof list`; did you "
            "mean iid?");
  EXPECT_EQ(
      refusal(Level::position, "without_replacment"),
      "mine: hello: draft_sampling: got \"without_replacment\", expected a draft sampling of `draftproof list`; "
      "did you mean without_replacement?");
  EXPECT_EQ(refusal(Level::tree, "idd_paths", {"draft"}),
            "mine: hello: draft_sampling: got \"idd_paths\", expected a tree sampling of `draftproof list`; did you "
            "mean iid_paths?");
  EXPECT_NE(refusal(Level::chain, "independent"), "none");
  EXPECT_EQ(
      refusal(Level::tree, "hybrid_tree"),
      "mine: hello: draft_sampling: got \"hybrid_tree\", whose number of fixed children a request does not contain, "
      "expected another tree sampling of `draftproof list`");
  // A scheme of paths names the draft sampling of its path.
  for (const auto& [level, distribution] : {std::pair{Level::position, "iid"},
                                            {Level::chain, "iid"},
                                            {Level::tree, "iid_paths"},
                                            {Level::chain, "gumbel_paths"},
                                            {Level::position, "independent"},
                                            {Level::tree, "top_k_tree"}})
    EXPECT_EQ(refusal(level, distribution), "none");
  EXPECT_EQ(refusal(Level::tree, "iid", {"generate"}), "none") << "a text has no draft sampling";
}

}  // namespace
}  // namespace draftproof::adapters
