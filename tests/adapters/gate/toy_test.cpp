#include <draftproof/adapters/gate/toy.hpp>

#include <numeric>
#include <set>

#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/tests/support/doors_messages.hpp>

namespace draftproof::adapters {
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
  EXPECT_EQ(error_of([&] { toy_of(instance, "iid", {.leaves = 3}); }),
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
  EXPECT_EQ(error_of([] { position_toy("p=(1 1)/2 q=(1 1)/2 K=1", "nothing"); }),
            "law: found \"nothing\", wanted a draft law of `draftproof list`");
  EXPECT_EQ(error_of([] { path_toy("L=1 K=1 [] p=(1 1)/2 q=(1 1)/2", "iid", Level::tree); }),
            "law: found \"iid\", wanted a tree law of `draftproof list`");
  EXPECT_EQ(error_of([] { position_toy("p=(1 1)/2 q=(1 1)/2 K=2", "independent"); }),
            "law independent: has no drafts on p=(1 1)/2 q=(1 1)/2 K=2");
}

/// Whether a program with these numbers takes small models of this size.
struct Taken {
  Level level;
  const char* law;
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
    SCOPED_TRACE(std::string(row.law) + ' ' + row.text + row.about);
    const Declaration declaration{
        .name = "any", .level = row.level, .law = row.law, .fewest_drafts = row.fewest, .most_drafts = row.most};
    EXPECT_EQ(row.level == position ? takes(declaration, Instance::parse(row.text))
                                    : takes(declaration, PathInstance::parse(row.text)),
              row.taken);
  }
  // Two children at each of three levels: 2 + 4 + 8 nodes.
  const auto branching = [](int fewest, int most, const char* text) {
    PathInstance instance = PathInstance::parse(text);
    instance.shape.branching = {2, 2, 2};
    return takes({.name = "tree",
                  .level = Level::tree,
                  .law = "without_replacement_tree",
                  .fewest_drafts = fewest,
                  .most_drafts = most},
                 instance);
  };
  EXPECT_FALSE(branching(1, 13, path));
  EXPECT_TRUE(branching(1, 14, path));
  EXPECT_TRUE(branching(14, 14, path));
  EXPECT_FALSE(branching(14, 14, "L=3 K=1 [] p=(1 1)/2 q=(1 0)/1")) << "one child: q has no other token";
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
  struct Sizes {
    Level level;
    const char* law;
    std::set<int> drafts, lengths;
  };
  for (const auto& [level, law, drafts, lengths] : {Sizes{Level::position, "iid", {1, 2, 3}, {}},
                                                    {Level::chain, "iid", {1}, {1, 2, 3, 4}},
                                                    {Level::tree, "iid_paths", {1, 2}, {1, 2, 3}}}) {
    const Generated seen = generated({.name = "any", .level = level, .law = law});
    EXPECT_EQ(seen.vocabularies, (std::set{2, 3, 4}));
    EXPECT_EQ(seen.drafts, drafts);
    EXPECT_EQ(seen.lengths, lengths);
  }
}

TEST(ForeignInstances, ObeyEveryDeclaration) {
  const auto obeys = [](Level level, std::string_view law, int fewest, int most, int most_of_all) {
    const Generated seen = generated(
        {.name = "any", .level = level, .law = std::string(law), .fewest_drafts = fewest, .most_drafts = most});
    EXPECT_GE(*seen.entries.begin(), fewest) << law;
    EXPECT_LE(*seen.entries.rbegin(), most > 0 ? most : most_of_all) << law;
    return *seen.entries.begin();
  };
  for (const auto& law : registry().drafters()) {
    const auto& info = law->info();
    if (info.misdeclares()) continue;
    for (const int most : {0, 2, 3, 5}) {
      const int fewest = std::max(info.fewest_drafts, most == 3 ? 2 : 1);
      if ((most > 0 && most < fewest) || (info.most_drafts > 0 && fewest > info.most_drafts)) continue;
      obeys(Level::position, info.name, fewest, most, 4);
    }
  }
  for (const auto& law : path_registry().drafters())
    for (const int most : {0, 2, 4, 7})
      for (const int fewest : {1, 2}) obeys(Level::tree, law->info().name, fewest, most, 14);
  for (const int fewest : {1, 2, 4}) EXPECT_EQ(obeys(Level::chain, "iid", fewest, 0, 4), fewest);
}

TEST(ForeignInstances, SayWhereThereAreNone) {
  const auto position = [](int fewest, int most) {
    return error_of([&] {
      foreign_instance({.name = "odd", .level = Level::position, .fewest_drafts = fewest, .most_drafts = most}, 1, 0);
    });
  };
  EXPECT_EQ(position(4, 0), "none");
  EXPECT_EQ(position(5, 0), "odd: found no small model that its declaration takes: law iid, 5 drafts or more");
  EXPECT_EQ(position(2, 1), "odd: found no small model that its declaration takes: law iid, 2 to 1 drafts");
  EXPECT_EQ(error_of([] { foreign_path_instance({.name = "odd", .level = Level::chain, .fewest_drafts = 5}, 1, 0); }),
            "odd: found no small model that its declaration takes: law iid, 5 drafts or more");
}

TEST(Toy, AMisspeltLawIsRefusedWithTheNearestName) {
  const auto refusal = [](Level level, const std::string& law, std::vector<std::string> functions = {"verify"}) {
    return error_of(
        [&] { check_law({.name = "mine", .level = level, .law = law, .functions = std::move(functions)}); });
  };
  EXPECT_EQ(refusal(Level::chain, "idd"),
            "mine: hello: law: found \"idd\", wanted iid or a tree law of `draftproof list`; did you mean iid?");
  EXPECT_EQ(refusal(Level::position, "without_replacment"),
            "mine: hello: law: found \"without_replacment\", wanted a draft law of `draftproof list`; did you mean "
            "without_replacement?");
  EXPECT_EQ(refusal(Level::tree, "idd_paths", {"draft"}),
            "mine: hello: law: found \"idd_paths\", wanted a tree law of `draftproof list`; did you mean iid_paths?");
  EXPECT_NE(refusal(Level::chain, "independent"), "none");
  // A scheme of paths names the law of its path.
  for (const auto& [level, law] : {std::pair{Level::position, "iid"},
                                   {Level::chain, "iid"},
                                   {Level::tree, "iid_paths"},
                                   {Level::chain, "gumbel_paths"},
                                   {Level::position, "independent"},
                                   {Level::tree, "top_k_tree"}})
    EXPECT_EQ(refusal(level, law), "none");
  EXPECT_EQ(refusal(Level::tree, "iid", {"generate"}), "none") << "a text has no draft law";
}

}  // namespace
}  // namespace draftproof::adapters
