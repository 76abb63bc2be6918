#include <draftproof/doors/gate/toy.hpp>

#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include <draftproof/properties/prover/path_registry.hpp>
#include <draftproof/properties/prover/registry.hpp>

namespace draftproof::doors {
namespace {

using ToyRow = std::vector<double>;
using ToyRows = std::vector<ToyRow>;

Toy position_toy(const char* text, const char* law) { return toy_of(Instance::parse(text), law); }
Toy path_toy(const char* text, const char* law, Level level) { return toy_of(PathInstance::parse(text), law, level); }

double drawn_in(const Toy& toy) { return std::accumulate(toy.drawn.begin(), toy.drawn.end(), 0.0); }

/// The number of the input with these drafts and parents.
std::size_t place_of(const Toy& toy, const std::vector<Token>& drafts, const std::vector<int>& parents = {}) {
  for (std::size_t i = 0; i < toy.inputs.size(); ++i)
    if (toy.inputs[i].drafts == drafts && toy.inputs[i].parents == parents) return i;
  ADD_FAILURE() << "no such input";
  return 0;
}

std::string toy_error(const std::function<void()>& call) {
  try {
    call();
  } catch (const DoorError& error) {
    return error.what();
  }
  return "none";
}

TEST(Toy, PositionHasATupleOfTheLawEach) {
  const Toy toy = position_toy("p=(1 3)/4 q=(3 1)/4 K=2", "iid");
  EXPECT_EQ(toy.length, 1);
  EXPECT_EQ(toy.vocabulary, 2);
  EXPECT_EQ(toy.text, "p=(1 3)/4 q=(3 1)/4 K=2");
  ASSERT_EQ(toy.inputs.size(), 4u);
  const ToyRow p{.25, .75}, q{.75, .25};
  for (const Input& input : toy.inputs) EXPECT_EQ(input, (Input{.p = {p}, .q = {q}, .drafts = input.drafts}));
  EXPECT_EQ(toy.drawn[place_of(toy, {0, 0})], 9. / 16);
  EXPECT_EQ(toy.drawn[place_of(toy, {0, 1})], 3. / 16);
  EXPECT_EQ(toy.drawn[place_of(toy, {1, 0})], 3. / 16);
  EXPECT_EQ(toy.drawn[place_of(toy, {1, 1})], 1. / 16);
  EXPECT_EQ(toy.target({}), p);
  // Token 0 alone is drafted with probability 9/16 and may be emitted with 1/4; all other drafts can be accepted.
  EXPECT_EQ(toy.optimum, 1. / 4 + 7. / 16);
}

TEST(Toy, TuplesBeyondTheLimitAreNoToy) {
  const Instance instance = Instance::parse("p=(1 3)/4 q=(3 1)/4 K=2");
  EXPECT_EQ(toy_of(instance, "iid", {.leaves = 4}).inputs.size(), 4u);
  EXPECT_EQ(toy_error([&] { toy_of(instance, "iid", {.leaves = 3}); }),
            "law iid: too many tuples on p=(1 3)/4 q=(3 1)/4 K=2");
}

TEST(Toy, DraftsWithoutReplacementEndWithTheSupport) {
  const Toy toy = position_toy("p=(1 3 1)/5 q=(3 1 0)/4 K=3", "without_replacement");
  ASSERT_EQ(toy.inputs.size(), 2u);
  EXPECT_EQ(toy.drawn[place_of(toy, {0, 1})], .75);
  EXPECT_EQ(toy.drawn[place_of(toy, {1, 0})], .25);
  EXPECT_EQ(toy.optimum, .8);  // tokens 0 and 1 are always drafted
}

TEST(Toy, EveryDraftHasItsProposalWhereTheLawHasSeveral) {
  const Toy toy = position_toy("p=(1 1)/2 q=(1 0)/1 q=(1 3)/4 K=2", "independent");
  ASSERT_EQ(toy.inputs.size(), 2u);
  EXPECT_EQ(toy.inputs[0].q, (ToyRows{{1, 0}, {.25, .75}}));
  EXPECT_EQ(toy.drawn[place_of(toy, {0, 0})], .25);
  EXPECT_EQ(toy.drawn[place_of(toy, {0, 1})], .75);
}

TEST(Toy, ChainHasARowForEachPrefixAndNoParents) {
  const Toy toy = path_toy("L=2 K=1 [] p=(1 1)/2 q=(1 3)/4 [1] p=(1 0)/1 q=(1 1)/2", "iid", Level::chain);
  EXPECT_EQ(toy.length, 3);
  EXPECT_FALSE(toy.optimum.has_value());
  ASSERT_EQ(toy.inputs.size(), 4u);
  const ToyRow half{.5, .5}, q{.25, .75}, sure{1, 0};
  const std::size_t at = place_of(toy, {0, 1});  // [0] is not listed: rows of []
  EXPECT_EQ(toy.inputs[at], (Input{.p = {half, half, half}, .q = {q, q}, .drafts = {0, 1}}));
  EXPECT_EQ(toy.drawn[at], 3. / 16);
  const std::size_t other = place_of(toy, {1, 0});
  EXPECT_EQ(toy.inputs[other], (Input{.p = {half, sure, sure}, .q = {q, half}, .drafts = {1, 0}}));
  EXPECT_EQ(toy.drawn[other], 3. / 8);
  EXPECT_EQ(toy.drawn[place_of(toy, {0, 0})], 1. / 16);
  EXPECT_EQ(toy.drawn[place_of(toy, {1, 1})], 3. / 8);
  EXPECT_EQ(toy.target({}), half);
  EXPECT_EQ(toy.target({1, 0}), sure);
  EXPECT_EQ(toy.target({0}), half);
}

TEST(Toy, TreeHasAnEntryForEachDrawAndRepeatsHaveNoChildren) {
  const Toy toy = path_toy("L=2 K=2 [] p=(1 3)/4 q=(1 1)/2 [0] p=(1 1)/2 q=(1 0)/1", "iid_paths", Level::tree);
  EXPECT_EQ(toy.length, 3);
  // Paths are (0 0), (1 0) and (1 1) with probabilities 1/2, 1/4 and 1/4: nine pairs.
  ASSERT_EQ(toy.inputs.size(), 9u);
  const ToyRow p{.25, .75}, half{.5, .5}, sure{1, 0};
  // The same path twice. Its second node 0 is a repeat, so what follows hangs on the first one.
  const std::size_t twice = place_of(toy, {0, 0, 0, 0}, {-1, 0, -1, 0});
  EXPECT_EQ(toy.drawn[twice], 1. / 4);
  EXPECT_EQ(toy.inputs[twice].p, (ToyRows{p, half, half, half, half}));
  EXPECT_EQ(toy.inputs[twice].q, (ToyRows{half, sure, half, sure}));
  // Two paths that part at the root.
  const std::size_t apart = place_of(toy, {0, 0, 1, 1}, {-1, 0, -1, 2});
  EXPECT_EQ(toy.drawn[apart], 1. / 8);
  EXPECT_EQ(toy.inputs[apart].p, (ToyRows{p, half, half, p, p}));
  EXPECT_EQ(toy.inputs[apart].q, (ToyRows{half, sure, half, half}));
  // Two paths that part after token 1.
  EXPECT_EQ(toy.drawn[place_of(toy, {1, 0, 1, 1}, {-1, 0, -1, 0})], 1. / 16);
}

TEST(Toy, ProbabilitiesSumToOne) {
  for (const char* law : {"iid", "without_replacement"})
    for (int n = 0; n < 30; ++n) {
      const Toy toy = toy_of(foreign_instance({.name = "any", .level = Level::position, .law = law}, 7, n), law);
      EXPECT_NEAR(drawn_in(toy), 1, 0x1p-48) << toy.text;
    }
  for (const Level level : {Level::chain, Level::tree})
    for (int n = 0; n < 30; ++n) {
      const Declaration any{.name = "any", .level = level, .law = "iid_paths"};
      const Toy toy = toy_of(foreign_path_instance(any, 7, n), any.law, level);
      EXPECT_NEAR(drawn_in(toy), 1, 0x1p-48) << toy.text;
      std::set<std::pair<std::vector<Token>, std::vector<int>>> distinct;
      for (const Input& input : toy.inputs) distinct.insert({input.drafts, input.parents});
      EXPECT_EQ(distinct.size(), toy.inputs.size()) << toy.text;
    }
}

TEST(Toy, RefusesLawsThatAreNone) {
  EXPECT_EQ(toy_error([] { position_toy("p=(1 1)/2 q=(1 1)/2 K=1", "nothing"); }),
            "law: found \"nothing\", wanted a draft law of `draftproof list`");
  EXPECT_EQ(toy_error([] { path_toy("L=1 K=1 [] p=(1 1)/2 q=(1 1)/2", "iid", Level::tree); }),
            "law: found \"iid\", wanted a tree law of `draftproof list`");
  EXPECT_EQ(toy_error([] { position_toy("p=(1 1)/2 q=(1 1)/2 K=2", "independent"); }),
            "law independent: has no drafts on p=(1 1)/2 q=(1 1)/2 K=2");
}

TEST(Takes, PositionsWithinTheDeclaredNumbers) {
  const auto taken = [](const Declaration& declaration, const char* text) {
    return takes(declaration, Instance::parse(text));
  };
  Declaration any{.name = "any", .level = Level::position};
  EXPECT_TRUE(taken(any, "p=(1 1)/2 q=(1 1)/2 K=3"));
  any.most_drafts = 2;
  EXPECT_FALSE(taken(any, "p=(1 1)/2 q=(1 1)/2 K=3"));
  EXPECT_TRUE(taken(any, "p=(1 1)/2 q=(1 1)/2 K=2"));
  any.fewest_drafts = 2;
  EXPECT_FALSE(taken(any, "p=(1 1)/2 q=(1 1)/2 K=1"));
  any.law = "independent";
  EXPECT_FALSE(taken(any, "p=(1 1)/2 q=(1 1)/2 K=2"));
  EXPECT_TRUE(taken(any, "p=(1 1)/2 q=(1 1)/2 q=(1 0)/1 K=2"));
  any.law = "without_replacement";
  EXPECT_TRUE(taken(any, "p=(1 1)/2 q=(1 1)/2 K=2"));
  EXPECT_FALSE(taken(any, "p=(1 1)/2 q=(1 0)/1 K=2")) << "one draft only: the support of q runs out";
}

TEST(Takes, PathsWithinTheDeclaredNumbers) {
  const auto taken = [](const Declaration& declaration, const char* text, std::vector<int> branching = {}) {
    PathInstance instance = PathInstance::parse(text);
    if (!branching.empty()) instance.shape.branching = std::move(branching);
    return takes(declaration, instance);
  };
  Declaration chain{.name = "chain", .level = Level::chain};
  EXPECT_TRUE(taken(chain, "L=3 K=1 [] p=(1 1)/2 q=(1 1)/2"));
  EXPECT_FALSE(taken(chain, "L=3 K=2 [] p=(1 1)/2 q=(1 1)/2"));
  chain.most_drafts = 2;
  EXPECT_FALSE(taken(chain, "L=3 K=1 [] p=(1 1)/2 q=(1 1)/2"));
  chain.fewest_drafts = 2;
  EXPECT_FALSE(taken(chain, "L=1 K=1 [] p=(1 1)/2 q=(1 1)/2"));

  Declaration tree{.name = "tree", .level = Level::tree, .law = "iid_paths", .most_drafts = 4};
  EXPECT_TRUE(taken(tree, "L=2 K=2 [] p=(1 1)/2 q=(1 1)/2"));
  EXPECT_FALSE(taken(tree, "L=3 K=2 [] p=(1 1)/2 q=(1 1)/2"));
  tree.fewest_drafts = 3;
  EXPECT_FALSE(taken(tree, "L=2 K=1 [] p=(1 1)/2 q=(1 1)/2"));

  // Two children at each of three levels: 2 + 4 + 8 nodes.
  Declaration branching{.name = "tree", .level = Level::tree, .law = "without_replacement_tree", .most_drafts = 13};
  EXPECT_FALSE(taken(branching, "L=3 K=1 [] p=(1 1)/2 q=(1 1)/2", {2, 2, 2}));
  branching.most_drafts = 14;
  EXPECT_TRUE(taken(branching, "L=3 K=1 [] p=(1 1)/2 q=(1 1)/2", {2, 2, 2}));
  branching.fewest_drafts = 14;
  EXPECT_TRUE(taken(branching, "L=3 K=1 [] p=(1 1)/2 q=(1 1)/2", {2, 2, 2}));
  EXPECT_FALSE(taken(branching, "L=3 K=1 [] p=(1 1)/2 q=(1 0)/1", {2, 2, 2})) << "one child: q has no other token";
}

/// Numbers of drafts that the inputs of 60 instances have, and V, K and L seen.
struct Generated {
  std::set<int> vocabularies{}, drafts{}, lengths{}, entries{};
};

Generated generated(const Declaration& declaration) {
  Generated seen;
  for (int n = 0; n < 60; ++n) {
    Toy toy;
    if (declaration.level == Level::position) {
      const Instance instance = foreign_instance(declaration, 1, n);
      EXPECT_TRUE(takes(declaration, instance)) << instance.text();
      seen.drafts.insert(instance.drafts);
      toy = toy_of(instance, declaration.law);
    } else {
      const PathInstance instance = foreign_path_instance(declaration, 1, n);
      EXPECT_TRUE(takes(declaration, instance)) << instance.text();
      seen.drafts.insert(instance.shape.drafts);
      seen.lengths.insert(instance.shape.length);
      toy = toy_of(instance, declaration.law, declaration.level);
    }
    seen.vocabularies.insert(toy.vocabulary);
    for (const Input& input : toy.inputs) seen.entries.insert(static_cast<int>(input.drafts.size()));
  }
  return seen;
}

TEST(ForeignInstances, HaveTheSizesThatCallsCanExplore) {
  const Generated position = generated({.name = "any", .level = Level::position});
  EXPECT_EQ(position.vocabularies, (std::set{2, 3, 4}));
  EXPECT_EQ(position.drafts, (std::set{1, 2, 3}));
  const Generated chain = generated({.name = "any", .level = Level::chain});
  EXPECT_EQ(chain.vocabularies, (std::set{2, 3, 4}));
  EXPECT_EQ(chain.drafts, (std::set{1}));
  EXPECT_EQ(chain.lengths, (std::set{1, 2, 3, 4}));
  const Generated tree = generated({.name = "any", .level = Level::tree, .law = "iid_paths"});
  EXPECT_EQ(tree.vocabularies, (std::set{2, 3, 4}));
  EXPECT_EQ(tree.drafts, (std::set{1, 2}));
  EXPECT_EQ(tree.lengths, (std::set{1, 2, 3}));
}

TEST(ForeignInstances, ObeyEveryDeclaration) {
  for (const auto& law : registry().drafters()) {
    if (law->info().misdeclares()) continue;
    for (const int most : {0, 2, 3, 5}) {
      const int fewest = std::max(law->info().fewest_drafts, most == 3 ? 2 : 1);
      if (most > 0 && most < fewest) continue;
      if (law->info().most_drafts > 0 && fewest > law->info().most_drafts) continue;
      const Declaration declaration{.name = "any",
                                    .level = Level::position,
                                    .law = std::string(law->info().name),
                                    .fewest_drafts = fewest,
                                    .most_drafts = most};
      const Generated seen = generated(declaration);
      EXPECT_GE(*seen.entries.begin(), fewest) << declaration.law;
      EXPECT_LE(*seen.entries.rbegin(), most > 0 ? most : 4) << declaration.law;
    }
  }
  for (const auto& law : path_registry().drafters())
    for (const int most : {0, 2, 4, 7})
      for (const int fewest : {1, 2}) {
        const Declaration declaration{.name = "any",
                                      .level = Level::tree,
                                      .law = std::string(law->info().name),
                                      .fewest_drafts = fewest,
                                      .most_drafts = most};
        const Generated seen = generated(declaration);
        EXPECT_GE(*seen.entries.begin(), fewest) << declaration.law;
        EXPECT_LE(*seen.entries.rbegin(), most > 0 ? most : 14) << declaration.law;
      }
  for (const int fewest : {1, 2, 4}) {
    const Generated seen = generated({.name = "any", .level = Level::chain, .fewest_drafts = fewest});
    EXPECT_EQ(*seen.entries.begin(), fewest);
  }
}

TEST(ForeignInstances, SayWhereThereAreNone) {
  const auto position = [](int fewest, int most) {
    return toy_error([&] {
      foreign_instance({.name = "odd", .level = Level::position, .fewest_drafts = fewest, .most_drafts = most}, 1, 0);
    });
  };
  EXPECT_EQ(position(4, 0), "none");
  EXPECT_EQ(position(5, 0), "odd: found no small model that its declaration takes: law iid, 5 drafts or more");
  EXPECT_EQ(position(2, 1), "odd: found no small model that its declaration takes: law iid, 2 to 1 drafts");
  EXPECT_EQ(
      toy_error([] { foreign_path_instance({.name = "odd", .level = Level::chain, .fewest_drafts = 5}, 1, 0); }),
      "odd: found no small model that its declaration takes: law iid, 5 drafts or more");
}

TEST(Toy, AMisspeltLawIsRefusedWithTheNearestName) {
  const auto refusal = [](Level level, const std::string& law, std::vector<std::string> functions = {"verify"}) {
    try {
      check_law({.name = "mine", .level = level, .law = law, .functions = std::move(functions)});
      return std::string();
    } catch (const DoorError& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(refusal(Level::chain, "idd"),
            "mine: hello: law: found \"idd\", wanted iid or a tree law of `draftproof list`; did you mean iid?");
  EXPECT_EQ(refusal(Level::position, "without_replacment"),
            "mine: hello: law: found \"without_replacment\", wanted a draft law of `draftproof list`; did you mean "
            "without_replacement?");
  EXPECT_EQ(refusal(Level::tree, "idd_paths", {"draft"}),
            "mine: hello: law: found \"idd_paths\", wanted a tree law of `draftproof list`; did you mean iid_paths?");
  for (const Level level : {Level::position, Level::chain, Level::tree})
    EXPECT_EQ(refusal(level, level == Level::tree ? "iid_paths" : "iid"), "");
  EXPECT_EQ(refusal(Level::chain, "gumbel_paths"), "") << "a scheme of paths names the law of its path";
  EXPECT_EQ(refusal(Level::position, "independent"), "");
  EXPECT_EQ(refusal(Level::tree, "top_k_tree"), "");
  EXPECT_NE(refusal(Level::chain, "independent"), "");
  EXPECT_EQ(refusal(Level::tree, "iid", {"generate"}), "") << "a text has no draft law";
}

}  // namespace
}  // namespace draftproof::doors
