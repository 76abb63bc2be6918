// Compares published numbers of schemes of paths, and tests inputs on which schemes coincide.
#include <gtest/gtest.h>

#include <draftproof/tests/support/small_models.hpp>

namespace draftproof {
namespace {

Rational mean_accepted(std::string_view scheme, const small::Model& model, int drafts, int length = 2) {
  return small::distribution(scheme, "iid_paths", model, {.drafts = drafts, .length = length}).mean_accepted();
}

TEST(PublishedPaths, TheTwoTokenExample) {
  const auto small_model = small::constant({1, 2}, {2, 1});
  EXPECT_EQ(mean_accepted("token_path", small_model, 1), Rational(10, 9));
  EXPECT_EQ(mean_accepted("block", small_model, 1), Rational(11, 9));
  EXPECT_EQ(mean_accepted("greedy_block", small_model, 1), Rational(12, 9));
  const auto distribution = small::distribution("block", "iid_paths", small_model, {.drafts = 1, .length = 2});
  EXPECT_EQ(distribution.accepted, (std::vector<Rational>{{1, 3}, {1, 9}, {5, 9}}));
}

// The published probabilities of two accepted tokens, by drafted path: aa 1/4, ab 1, ba 1/2, bb 1. For ba, exactly one
// token is accepted with probability 1/2.
TEST(PublishedPaths, TheTableOfTheExample) {
  const auto small_model = small::constant({1, 2}, {2, 1});
  const TreeShape shape{.drafts = 1, .length = 2};
  const auto block = small::verifier("block").prove_on(small_model, shape);
  std::map<Tokens, std::vector<Rational>> table;
  small::for_each_tree("iid_paths", small_model, shape, [&](const DraftTree& tree, const Rational&) {
    auto& row = table[path_to(tree, 2)];
    row.assign(3, Rational(0));
    for (const auto& [step, probability] : small::on_tree(*block, tree))
      row[static_cast<std::size_t>(step.first)] += probability;
  });
  using Row = std::vector<Rational>;
  EXPECT_EQ((table[{0, 0}]), (Row{{3, 4}, 0, {1, 4}}));
  EXPECT_EQ((table[{0, 1}]), (Row{0, 0, 1}));
  EXPECT_EQ((table[{1, 0}]), (Row{0, {1, 2}, {1, 2}}));
  EXPECT_EQ((table[{1, 1}]), (Row{0, 0, 1}));
}

TEST(PublishedPaths, TheExampleWithSeveralPaths) {
  const auto small_model = small::constant({1, 2}, {2, 1});
  const std::vector<std::tuple<std::string_view, Rational, Rational>> with_two_and_three{
      {"sample_and_match_tree", {82, 81}, {8200, 6561}},
      {"recursive_rejection_tree", {4, 3}, {1087, 729}},
      {"traversal", {115, 81}, {1136, 729}},
      {"greedy_multipath_block", {131, 81}, {1289, 729}},
      // The results of these three schemes are not published.
      {"layerwise_rejection", {112, 81}, {1103, 729}},
      {"branch_reentry", {131, 81}, {945353, 512487}},
      {"ladder_tree", {128, 81}, {742, 405}}};
  for (const auto& [scheme, two, three] : with_two_and_three) {
    EXPECT_EQ(mean_accepted(scheme, small_model, 2), two) << scheme;
    EXPECT_EQ(mean_accepted(scheme, small_model, 3), three) << scheme;
  }
}

// Puts the published example behind a stem on which p = q. The stem is accepted, and the step then equals the example.
TEST(PublishedPaths, TheExampleBehindAStem) {
  const Rows<Rational> small_model(normalised(std::vector{1, 2}), normalised(std::vector{2, 1}));
  const Rows<Rational> equal(normalised(std::vector{1, 1}), normalised(std::vector{1, 1}));
  const small::Model model({equal, small_model, small_model});
  const TreeShape shape{.drafts = 2, .length = 3, .stem = 1};
  const std::vector<std::pair<std::string_view, Rational>> cases{{"traversal", {115, 81}},
                                                                 {"layerwise_rejection", {112, 81}},
                                                                 {"greedy_multipath_block", {131, 81}},
                                                                 {"branch_reentry", {131, 81}}};
  for (const auto& [scheme, behind] : cases)
    EXPECT_EQ(small::distribution(scheme, "delayed_paths", model, shape).mean_accepted(), 1 + behind) << scheme;
}

TEST(PublishedPaths, LayersAcceptMoreThanOnePath) {
  int more = 0;
  for (int seed = 0; seed < 24; ++seed) {
    const auto model = small::random_model(1000 + seed, 2 + seed % 2, 2);
    const Rational one = mean_accepted("block", model, 1), layers = mean_accepted("layerwise_rejection", model, 2);
    EXPECT_GE(layers, one) << seed;
    more += layers > one;
  }
  EXPECT_GT(more, 12);
}

// Greedy multi-path block verification does not accept everything: choosing a path reduces
// acceptance even for equal distributions. The result depends on the tie rule: here the lower id ranks higher.
TEST(PublishedPaths, ChoosingAmongEqualDistributionsCosts) {
  const auto model = small::constant({3, 7}, {3, 7});
  EXPECT_EQ(mean_accepted("greedy_multipath_block", model, 1, 3), 3);
  EXPECT_EQ(mean_accepted("greedy_multipath_block", model, 2, 3), Rational(2113779, 1000000));
  EXPECT_EQ(mean_accepted("greedy_multipath_block", small::constant({7, 3}, {7, 3}), 2, 3),
            Rational(2237847, 1000000));
  EXPECT_LT(mean_accepted("greedy_multipath_block", model, 3, 3),
            mean_accepted("greedy_multipath_block", model, 2, 3));
  EXPECT_LT(mean_accepted("sample_and_match_tree", model, 2, 3), 3);
}

TEST(PublishedPaths, AOneHotDraftIsWorthTheSameToAll) {
  const auto model = small::constant({2, 3}, {1, 0});
  for (const std::string_view scheme : {"token_path", "block"})
    EXPECT_EQ(mean_accepted(scheme, model, 1), Rational(14, 25)) << scheme;
  for (const std::string_view scheme : {"recursive_rejection_tree", "k_seq_tree", "greedy_multipath_block",
                                        "branch_reentry", "traversal", "layerwise_rejection"})
    EXPECT_EQ(mean_accepted(scheme, model, 2), Rational(14, 25)) << scheme;
}

using small::random_model;

const std::vector<std::pair<int, int>> chains{{2, 1}, {3, 1}, {2, 3}, {3, 2}, {3, 3}, {2, 4}};

/// Returns the number of trees on which two schemes differ, over models of chains of these sizes (V, L).
int chains_that_differ(std::string_view one, std::string_view other, const std::vector<std::pair<int, int>>& sizes,
                       small::Kind kind = small::Kind::any) {
  int differing = 0;
  for (const auto& [vocabulary, length] : sizes)
    for (int seed = 0; seed < 6; ++seed)
      differing += small::trees_that_differ(one, other, "iid_paths", random_model(seed, vocabulary, length, kind),
                                            {.drafts = 1, .length = length});
  return differing;
}

// The prover checks which schemes are token or block verification on every chain (one_path).
TEST(Equalities, BlocksOfOneTokenAndOfACertainTargetAreTokenVerification) {
  for (const std::string_view scheme : {"block", "greedy_block"})
    EXPECT_EQ(chains_that_differ(scheme, "token_path", {{2, 1}, {3, 1}, {4, 1}}), 0) << scheme;
  EXPECT_GT(chains_that_differ("block", "token_path", {{3, 2}}), 0);
  EXPECT_EQ(chains_that_differ("block", "token_path", chains, small::Kind::one_hot_target), 0);
}

TEST(Equalities, AStemOfTheWholeLengthIsAChain) {
  const auto model = random_model(5, 3, 3);
  const TreeShape stem{.drafts = 3, .length = 3, .stem = 3};
  for (const std::string_view scheme :
       {"traversal", "greedy_multipath_block", "branch_reentry", "layerwise_rejection"})
    EXPECT_EQ(small::trees_that_differ(scheme, "block", "delayed_paths", model, stem), 0) << scheme;
}

// In a tree of depth 1, a step that accepts a draft ends with a bonus token in both schemes. NodeByNode descends to a
// child if the residual token was drafted; at depth 1 neither scheme emits a drafted token after refusing it.
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

/// Returns Pr(at least i accepted tokens) for i = 0, 1, ..
std::vector<Rational> tails(const DraftTree& tree, const small::OnTree& steps) {
  std::vector<Rational> tail(static_cast<std::size_t>(tree.length()) + 1, Rational(0));
  for (const auto& [step, probability] : steps)
    for (int i = 0; i <= tree.depth(step.first); ++i) tail[static_cast<std::size_t>(i)] += probability;
  return tail;
}

// On every tree, branch re-entry continues only where greedy multi-path block verification stops, so it never accepts
// fewer tokens.
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

// For block verification, Pr[tau >= i | first i tokens] = R_i / max of R_j over j <= i. Its mean over all paths is
// never less than for token verification.
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
        const int node = static_cast<int>(i);  // in a chain
        if (i > 0) {
          const auto& distributions = model.distributions(tree.context(node - 1));
          product *= distributions.target(tree.token(node)) / distributions.proposal(tree.token(node));
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
