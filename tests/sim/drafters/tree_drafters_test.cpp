// Fixed trees by hand: which prefixes they hold, and how many children a node may have.
#include <algorithm>

#include <gtest/gtest.h>

#include <draftproof/sim/distributions/plain_rows.hpp>
#include <draftproof/sim/drafters/trees/trees.hpp>
#include <draftproof/sim/random/explorer.hpp>
#include <draftproof/sim/trees/conditional_model.hpp>

namespace draftproof {
namespace {

DraftTree most_probable(const std::vector<double>& q, const TreeShape& shape) {
  const PrefixTable<Rows<double>> conditionals({Rows<double>(q, q)});
  DraftTree tree(0);
  Explorer<double> nothing_to_explore;
  tree_drafters::TopKTree{}.draw(conditionals, shape, nothing_to_explore, tree);
  return tree;
}

std::vector<Token> tokens_below(const DraftTree& tree, int u) {
  std::vector<Token> tokens;
  for (const int child : tree.children(u)) tokens.push_back(tree.token(child));
  return tokens;
}

// Joint probabilities: 1 has 1/2, (1, 1) 1/4, 0 and 2 have 1/4 each, and a prefix comes before a longer one: the four
// best are 1, 0, 2 and (1, 1).
TEST(TopKTree, HoldsTheMostProbablePrefixes) {
  const DraftTree tree = most_probable({0.25, 0.5, 0.25}, {.drafts = 4, .length = 2});
  EXPECT_EQ(tree.size(), 5);
  EXPECT_EQ(tokens_below(tree, DraftTree::root), (std::vector<Token>{1, 0, 2}));
  EXPECT_EQ(tokens_below(tree, tree.find(DraftTree::root, 1)), (std::vector<Token>{1}));
}

TEST(TopKTree, NoNodeHasMoreChildrenThanAVerifierTakes) {
  const DraftTree tree = most_probable(std::vector<double>(100, 0.01), {.drafts = 4 * max_drafts, .length = 4});
  EXPECT_EQ(tree.size(), 4 * max_drafts + 1);
  for (int u = 0; u < tree.size(); ++u) EXPECT_LE(tree.draw_count(u), max_drafts);
  EXPECT_EQ(tokens_below(tree, DraftTree::root).back(), max_drafts - 1) << "of equals the lower ids";
}

}  // namespace
}  // namespace draftproof
