// Tests of drafters of tuples and of trees: their distributions at edge cases, with shared noise and as sets, and
// trees that were computed by hand.
#include <algorithm>
#include <bit>
#include <map>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <draftproof/optimum/set_distribution.hpp>
#include <draftproof/properties/prover/arbitrary.hpp>
#include <draftproof/properties/statistics/sample_size.hpp>
#include <draftproof/sim/distributions/plain_rows.hpp>
#include <draftproof/sim/drafters/trees/trees.hpp>
#include <draftproof/sim/random/explorer.hpp>
#include <draftproof/sim/trees/conditional_model.hpp>

namespace draftproof {
namespace {

using DraftTuple = std::vector<Token>;
using TupleDistribution = std::map<DraftTuple, Rational>;
using Row = std::vector<Rational>;

TupleDistribution explored(std::string_view name, const Instance& instance) {
  const auto rows = instance.rows();
  TupleDistribution distribution;
  DraftTuple tuple;
  Explorer<Rational> explorer;
  EXPECT_TRUE(explorer.explore(
      [&](Explorer<Rational>& random) {
        Token out[max_drafts];
        const int count = registry().drafter(name)->draw(rows, instance.drafts, random, out);
        tuple.assign(out, out + count);
        return Verdict{0, none_accepted};
      },
      [&](const Leaf<Rational>& leaf) { distribution[tuple] += leaf.probability; }));
  return distribution;
}

Instance with_proposals(Instance instance) {
  // The proposal of each draft is the proposal of the draft before it, rotated by one token.
  while (std::ssize(instance.proposals) < instance.drafts) {
    auto row = instance.proposals.back();
    std::rotate(row.begin(), row.begin() + 1, row.end());
    instance.proposals.push_back(std::move(row));
  }
  return instance;
}

// Compares enumerated drafts with their declared distribution on edge cases. The property declared_drafts makes the
// same comparison on generated instances.
TEST(Drafters, DrawTheirDistributionOnTiesAndExhaustedSupports) {
  for (const auto& drafter : registry().drafters())
    for (const char* text : {"p=(1 1 1) q=(1 1 1) K=2", "p=(1 1 1) q=(0 1 1) K=3", "p=(1 1 1 1) q=(0 0 1 0) K=3",
                             "p=(1 1) q=(0 1) K=2", "p=(1 1 1 1) q=(2 0 2 1) K=4", "p=(1 0) q=(1 0) K=1"}) {
      Instance instance = Instance::parse(text);
      if (drafter->info().several_proposals) instance = with_proposals(instance);
      if (!drafter->defined(instance.vocabulary(), instance.drafts, static_cast<int>(instance.proposals.size())))
        continue;
      for (const auto& [tuple, probability] : explored(drafter->info().name, instance)) {
        if (std::ssize(tuple) < instance.drafts) continue;
        const auto declared = drafter->declared_mass(instance.rows(), instance.drafts, tuple);
        ASSERT_TRUE(declared && *declared == probability) << drafter->info().name << " on " << text;
      }
    }
}

/// Returns Pr(all drafts in S) for every set S of tokens, from the enumerated distribution.
std::vector<Rational> all_inside(std::string_view name, const Instance& instance) {
  std::vector<Rational> inside(std::size_t{1} << instance.target.size(), Rational(0));
  for (const auto& [tuple, probability] : explored(name, instance)) {
    const TokenSet drafted = set_of(tuple);
    for (std::size_t set = 0; set < inside.size(); ++set)
      if ((drafted & ~set) == 0) inside[set] += probability;
  }
  return inside;
}

Rational mass(const Row& q, std::size_t set) {
  Rational sum = 0;
  for (std::size_t x = 0; x < q.size(); ++x)
    if (set >> x & 1) sum += q[x];
  return sum;
}
Rational power(Rational base, int exponent) {
  Rational product = 1;
  while (exponent-- > 0) product *= base;
  return product;
}

RC_GTEST_PROP(Drafters, SetsHaveTheirClosedForms, (Instance instance)) {
  const int drafts = instance.drafts;
  const Row q = normalised(instance.proposals.front());
  const auto iid = all_inside("iid", instance);
  for (std::size_t set = 0; set < iid.size(); ++set) RC_ASSERT(iid[set] == power(mass(q, set), drafts));
  // Pr(x drafted) is 1 - Pr(no draft is x).
  for (std::size_t x = 0; x < q.size(); ++x)
    RC_ASSERT(1 - iid[(iid.size() - 1) ^ (std::size_t{1} << x)] == 1 - power(1 - q[x], drafts));

  const Instance several = with_proposals(instance);
  const auto independent = all_inside("independent", several);
  for (std::size_t set = 0; set < independent.size(); ++set) {
    Rational product = 1;
    for (int k = 0; k < drafts; ++k) product *= mass(normalised(several.proposals[static_cast<std::size_t>(k)]), set);
    RC_ASSERT(independent[set] == product);
  }

  // Without replacement and with K = 2, Pr(both drafts in S) is the sum over i in S of q_i (q(S) - q_i) / (1 - q_i).
  instance.drafts = 2;
  const auto pair = all_inside("without_replacement", instance);
  for (std::size_t set = 0; set < pair.size(); ++set) {
    Rational sum = 0;
    for (std::size_t x = 0; x < q.size(); ++x)
      if (set >> x & 1) sum += q[x] == 1 ? Rational(1) : q[x] * (mass(q, set) - q[x]) / (1 - q[x]);
    RC_ASSERT(pair[set] == sum);
  }
}

// Drafters that read shared noise cannot be enumerated, so 100,000 tuples of each drafter are compared with its
// declared distribution. There are fewer than 300 confidence intervals of level 1 - 1e-12, so a false alarm has
// probability below 1e-9 over the choice of the seed.
TEST(Drafters, DrawTheirDistributionThroughSharedNoise) {
  constexpr int trials = 100'000;
  int found = 0, intervals = 0;
  for (const auto& drafter : registry().drafters()) {
    if (!drafter->info().shared_noise()) continue;
    ++found;
    for (const char* text : {"p=(1 1 1 1) q=(1 2 3 4) K=2", "p=(1 1 1) q=(5 0 1) K=3", "p=(1 1 1) q=(1 1 1) K=2"}) {
      const Instance instance = Instance::parse(text);
      std::vector<double> q;
      for (const Rational& entry : normalised(instance.proposals.front())) q.push_back(static_cast<double>(entry));
      std::vector<Token> tokens(static_cast<std::size_t>(trials * instance.drafts));
      std::vector<int> lengths(trials);
      drafter->draw(Rows<double>(q, q), instance.drafts,
                    {13, 0, trials, instance.drafts, tokens.data(), lengths.data()});
      std::map<DraftTuple, std::uint64_t> counts;
      for (int t = 0; t < trials; ++t) {
        const auto start = tokens.begin() + t * instance.drafts;
        ++counts[DraftTuple(start, start + lengths[static_cast<std::size_t>(t)])];
      }
      const TupleDistribution distribution = explored(drafter->info().marginal_sampling_of, instance);
      for (const auto& [tuple, count] : counts)
        ASSERT_TRUE(distribution.contains(tuple))
            << drafter->info().name << " draws what its distribution does not, on " << text;
      for (const auto& [tuple, probability] : distribution) {
        const auto [low, high] = clopper_pearson(counts[tuple], trials, 1e-12);
        ASSERT_TRUE(low <= static_cast<double>(probability) && static_cast<double>(probability) <= high)
            << drafter->info().name << " on " << text << ": " << counts[tuple];
        ++intervals;
      }
    }
  }
  EXPECT_GE(found, 3);
  EXPECT_LT(intervals, 300);
}

TEST(Drafters, AreWalkedByTheDistributionTheyDeclare) {
  for (const auto& drafter : registry().drafters()) {
    if (!drafter->info().shared_noise()) continue;
    ASSERT_TRUE(registry().drafter(drafter->info().marginal_sampling_of)) << drafter->info().name;
    const Instance instance = Instance::parse("p=(1 1 1) q=(5 0 1) K=3");
    EXPECT_TRUE(explored(drafter->info().name, instance) == explored(drafter->info().marginal_sampling_of, instance));
  }
}

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

// The joint probability of (1) is 1/2; (0), (2) and (1, 1) have 1/4 each, and all other prefixes have less. Among
// equally probable prefixes a shorter prefix comes first, so the order is (1), (0), (2), (1, 1).
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
