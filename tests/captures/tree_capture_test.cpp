// Tests that captured trees with contradictory arrays are refused with the location of the error, and that valid trees
// are read.
#include <cmath>

#include <draftproof/captures/tree_capture.hpp>

#include <draftproof/tests/support/hostile.hpp>
#include <draftproof/tests/support/written_capture.hpp>

namespace draftproof {
namespace {

using namespace hostile;

/// Two contexts with two paths of two tokens each, V = 3. Nodes 0 to 3 are the prefixes (), (0), (0 0), (0 2) of the
/// first context, whose paths share their first token. Nodes 4 to 8 are the prefixes of the second context, whose paths
/// share only the root.
struct Trees {
  std::vector<std::int32_t> paths{0, 0, 0, 2, 1, 1, 2, 0};
  std::vector<std::int32_t> nodes{0, 1, 2, 0, 1, 3, 4, 5, 6, 4, 7, 8};
  std::vector<std::size_t> paths_shape{2, 2, 2}, nodes_shape{2, 2, 3};
  int rows = 9;

  NamedArrays arrays() const {
    std::vector<float> uniform(static_cast<std::size_t>(rows) * 3, static_cast<float>(std::log(1.0 / 3)));
    const std::vector<std::size_t> shape{static_cast<std::size_t>(rows), 3};
    return {{"target", make_array<float>(shape, uniform)},
            {"draft", make_array<float>(shape, uniform)},
            {"paths", make_array<std::int32_t>(paths_shape, paths)},
            {"path_nodes", make_array<std::int32_t>(nodes_shape, nodes)}};
  }
};

std::filesystem::path written(const TemporaryDirectory& directory, const NamedArrays& arrays) {
  const auto file = directory / "trees.npz";
  write_npz(file, arrays);
  return file;
}

TEST(TreeCapture, ReadsWhatIsThere) {
  const TemporaryDirectory directory;
  const auto file = written(directory, Trees{}.arrays());
  ASSERT_TRUE(TreeCapture::recognises(file));
  const TreeCapture trees = TreeCapture::open(file);
  EXPECT_EQ(trees.conditionals(), 2u);
  EXPECT_EQ(trees.paths(), 2u);
  EXPECT_EQ(trees.length(), 2u);
  EXPECT_EQ(trees.node(0, 1, 2), 3u);
  EXPECT_EQ(trees.node(1, 1, 1), 7u);
  EXPECT_EQ(trees.symbol(0, 1, 1), 2u);
  EXPECT_EQ(trees.symbol(1, 0, 0), 1u);
}

TEST(TreeCapture, KnowsWhatHoldsNoTrees) {
  const TemporaryDirectory directory;
  NamedArrays arrays = Trees{}.arrays();
  arrays.resize(2);
  EXPECT_FALSE(TreeCapture::recognises(written(directory, arrays)));
  EXPECT_FALSE(TreeCapture::recognises(directory.write("x.npy", "text")));
  expect_input_error([&] { TreeCapture::recognises(directory.write("x.npz", "text")); }, {"x.npz"});
}

TEST(TreeCapture, RefusesArraysThatContradict) {
  const TemporaryDirectory directory;
  const auto refused = [&](auto change, const std::vector<std::string>& parts) {
    Trees trees;
    change(trees);
    const auto file = written(directory, trees.arrays());
    expect_input_error([&] { TreeCapture::open(file); }, parts);
  };
  refused([](Trees& t) { t.nodes[5] = 9; }, {"trees.npz", "path_nodes", "node 9", "a row below 9"});
  refused([](Trees& t) { t.nodes[0] = -1; }, {"path_nodes", "node -1"});
  refused([](Trees& t) { t.paths[3] = 3; }, {"paths", "token 3"});
  refused([](Trees& t) { t.paths[3] = -1; }, {"paths", "token -1"});
  // In the first case two paths give a node different last tokens, in the second different parents.
  refused([](Trees& t) { t.paths[2] = 1; }, {"node 1 after two different prefixes"});
  refused([](Trees& t) { t.nodes[8] = 2; }, {"node 2 after two different prefixes"});
  refused([](Trees& t) { t.paths_shape = {2, 4}; }, {"paths", "2 dimensions"});
  refused([](Trees& t) { t.paths_shape = {4, 1, 2}; }, {"path_nodes", "[2, 2, 3]", "[4, 1, 3]"});
  refused([](Trees& t) { t.nodes_shape = {2, 3, 2}; }, {"path_nodes", "[2, 3, 2]"});
  refused([](Trees& t) { t.paths.clear(), t.paths_shape = {2, 0, 2}; }, {"path_nodes"});
}

TEST(TreeCapture, RefusesMissingAndForeignArrays) {
  const TemporaryDirectory directory;
  for (const std::string name : {"paths", "path_nodes", "target", "draft"}) {
    NamedArrays arrays = Trees{}.arrays();
    std::erase_if(arrays, [&](const auto& array) { return array.first == name; });
    const auto file = written(directory, arrays);
    expect_input_error([&] { TreeCapture::open(file); }, {"trees.npz", name});
  }
  NamedArrays arrays = Trees{}.arrays();
  arrays[2].second = make_array<float>({2, 2, 2}, std::vector<float>(8, 0));
  const auto file = written(directory, arrays);
  expect_input_error([&] { TreeCapture::open(file); }, {"paths", "integers"});
}

TEST(CapturedTrees, AreSourcesOfSteps) {
  const TemporaryDirectory directory;
  const auto file = written(directory, Trees{}.arrays());
  const auto source = open_captured_trees(file, {});
  EXPECT_EQ(source->most_paths(), 2);
  EXPECT_EQ(source->longest(), 2);
  EXPECT_EQ(source->describe().at("vocabulary"), 3);
  const auto conditionals = source->open();
  // Trial 3 uses the second context, with its two paths in reverse order.
  const DraftTree* tree = conditionals->tree(3, {.drafts = 2, .length = 2});
  ASSERT_EQ(conditionals->start(3), 4);
  ASSERT_EQ(tree->size(), 5);
  EXPECT_EQ(tree->context(1), 7);
  EXPECT_EQ(tree->token(1), 2);
  EXPECT_EQ(tree->context(4), 6);
  EXPECT_EQ(conditionals->tree(0, {.drafts = 2, .length = 2})->size(), 4) << "the shared step is one node";
  EXPECT_EQ(conditionals->tree(0, {.drafts = 2, .length = 1})->size(), 2);
  expect_input_error([&] { open_captured_trees(file, {.target_filter = {.temperature = 0.5}}); },
                     {"trees.npz", "filter"});
  expect_input_error([&] { open_captured_trees(file, {.proposals = {"draft_x"}}); }, {"trees.npz", "draft_x"});
}

}  // namespace
}  // namespace draftproof
