// Schemes that coincide on some inputs: compared tree by tree, in fractions, for every possible output.
#include <gtest/gtest.h>

#include <draftproof/tests/support/small_models.hpp>

namespace draftproof {
namespace {

using small::random_model;

const std::vector<std::pair<int, int>> chains{{2, 1}, {3, 1}, {2, 3}, {3, 2}, {3, 3}, {2, 4}};

/// Number of trees on which two schemes differ, over models of chains of these sizes (V, L).
int chains_that_differ(std::string_view one, std::string_view other, const std::vector<std::pair<int, int>>& sizes,
                       small::Kind kind = small::Kind::any) {
  int differing = 0;
  for (const auto& [vocabulary, length] : sizes)
    for (int seed = 0; seed < 6; ++seed)
      differing += small::trees_that_differ(one, other, "iid_paths", random_model(seed, vocabulary, length, kind),
                                            {.drafts = 1, .length = length});
  return differing;
}

TEST(Equalities, BlockOfOneTokenIsTokenVerification) {
  EXPECT_EQ(chains_that_differ("block", "token_path", {{2, 1}, {3, 1}, {4, 1}}), 0);
  EXPECT_GT(chains_that_differ("block", "token_path", {{3, 2}}), 0);
}

TEST(Equalities, BlockOnAOneHotTargetIsTokenVerification) {
  EXPECT_EQ(chains_that_differ("block", "token_path", chains, small::Kind::one_hot_target), 0);
}

TEST(Equalities, OnAChainTreeSchemesAreBlockVerification) {
  for (const std::string_view scheme :
       {"traversal", "greedy_multipath_block", "branch_reentry", "layerwise_rejection"})
    EXPECT_EQ(chains_that_differ(scheme, "block", chains), 0) << scheme;
}

TEST(Equalities, GreedyBlockOfOneTokenIsTokenVerification) {
  EXPECT_EQ(chains_that_differ("greedy_block", "token_path", {{2, 1}, {3, 1}, {4, 1}}), 0);
}

TEST(Equalities, WalksAlongOnePathAreTokenVerification) {
  for (const std::string_view walk : {"recursive_rejection_tree", "recursive_rejection_wor_tree", "k_seq_tree",
                                      "optimal_transport_tree", "canonical_two_step_tree", "ladder_tree"})
    EXPECT_EQ(chains_that_differ(walk, "token_path", chains), 0) << walk;
}

TEST(Equalities, AStemOfTheWholeLengthIsAChain) {
  const auto model = random_model(5, 3, 3);
  const TreeShape stem{.drafts = 3, .length = 3, .stem = 3};
  for (const std::string_view scheme :
       {"traversal", "greedy_multipath_block", "branch_reentry", "layerwise_rejection"})
    EXPECT_EQ(small::trees_that_differ(scheme, "block", "delayed_paths", model, stem), 0) << scheme;
}

// A tree of depth 1 ends in drafted leaves, so both schemes go on to a bonus token. NodeByNode descends to a drafted
// residual token, which at depth 1 both schemes never emit after refusing it.
TEST(Equalities, TraversalOfDepthOneIsRecursiveRejectionWithoutReplacement) {
  for (int seed = 0; seed < 20; ++seed) {
    const int vocabulary = 2 + seed % 3;
    const auto model = random_model(seed, vocabulary, 1);
    const TreeShape shape{.length = 1, .branching = {2 + seed % 2}};
    EXPECT_EQ(small::trees_that_differ("traversal", "recursive_rejection_wor_tree", "without_replacement_tree", model,
                                       shape),
              0)
        << seed;
  }
}

/// Probability of at least i accepted tokens.
std::vector<Rational> tails(const DraftTree& tree, const small::OnTree& steps) {
  std::vector<Rational> tail(static_cast<std::size_t>(tree.length()) + 1, Rational(0));
  for (const auto& [step, probability] : steps)
    for (int i = 0; i <= tree.depth(step.first); ++i) tail[static_cast<std::size_t>(i)] += probability;
  return tail;
}

// Tree by tree: re-entry continues only where greedy multi-path block verification stops.
TEST(Equalities, ReentryNeverShortensAStep) {
  int longer = 0;
  for (int seed = 0; seed < 12; ++seed) {
    const auto model = random_model(seed, 2 + seed % 2, 2);
    const TreeShape shape{.drafts = 2 + (seed % 4 == 0), .length = 2};
    const auto once = small::verifier("greedy_multipath_block").prove_on(model, shape);
    const auto again = small::verifier("branch_reentry").prove_on(model, shape);
    small::for_each_tree("iid_paths", model, shape, [&](const DraftTree& tree, const Rational&) {
      const auto a = tails(tree, small::on_tree(*once, tree)), b = tails(tree, small::on_tree(*again, tree));
      for (std::size_t i = 0; i < a.size(); ++i) {
        EXPECT_LE(a[i], b[i]) << seed;
        longer += a[i] < b[i];
      }
    });
  }
  EXPECT_GT(longer, 0);
}

// Pr[tau >= i | first i tokens] = R_i / max of R_j over j <= i, for block verification; over all paths it is never
// less than for token verification.
TEST(Equalities, TailsOfBlockVerification) {
  for (const auto& [vocabulary, length] : chains) {
    const auto model = random_model(vocabulary + length, vocabulary, length);
    const TreeShape shape{.drafts = 1, .length = length};
    const auto block = small::verifier("block").prove_on(model, shape);
    const auto token = small::verifier("token_path").prove_on(model, shape);
    std::vector<Rational> ahead(static_cast<std::size_t>(length) + 1, Rational(0));
    struct Prefix {
      Rational drawn = 0, accepted = 0, clipped = 0;
    };
    std::map<Tokens, Prefix> prefixes;
    small::for_each_tree("iid_paths", model, shape, [&](const DraftTree& tree, const Rational& drawn) {
      const auto of_block = tails(tree, small::on_tree(*block, tree));
      const auto of_token = tails(tree, small::on_tree(*token, tree));
      Rational product = 1, largest = 1;
      for (std::size_t i = 0; i < ahead.size(); ++i) {
        const int node = static_cast<int>(i);  // of a chain
        if (i > 0) {
          const auto& laws = model.laws(tree.context(node - 1));
          product *= laws.target(tree.token(node)) / laws.proposal(tree.token(node));
          largest = std::max(largest, product);
        }
        Prefix& prefix = prefixes[path_to(tree, node)];
        prefix.drawn += drawn;
        prefix.accepted += drawn * of_block[i];
        prefix.clipped = product / largest;
        ahead[i] += drawn * (of_block[i] - of_token[i]);
      }
    });
    for (const auto& [tokens, prefix] : prefixes) EXPECT_EQ(prefix.accepted, prefix.drawn * prefix.clipped);
    for (const Rational& difference : ahead) EXPECT_GE(difference, 0);
  }
}

}  // namespace
}  // namespace draftproof
