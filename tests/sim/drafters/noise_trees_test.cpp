// Tests of couplings on trees of shared noise: trees have their declared distribution, tokens emitted after any
// prefix have the target's distribution, and at each depth acceptance follows from the closed form of one position.
// Noise cannot be enumerated, so all tests compare trials of fixed seeds with confidence intervals.
#include <algorithm>
#include <functional>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/optimum/iid_acceptance.hpp>
#include <draftproof/optimum/race_acceptance.hpp>
#include <draftproof/properties/prover/path_prover.hpp>
#include <draftproof/properties/statistics/sample_size.hpp>
#include <draftproof/sim/drafters/trees/paths.hpp>
#include <draftproof/sim/trees/node_by_node.hpp>
#include <draftproof/tests/support/small_models.hpp>
#include <draftproof/verifiers/gls.hpp>

namespace draftproof {
namespace {

/// At most 1000 intervals are evaluated on correct programs, so a false alarm has probability 1e-9 over the choice of
/// the seeds, which are fixed.
constexpr double alpha = 1e-12;
int intervals = 0;

bool within(std::uint64_t count, std::uint64_t trials, double probability) {
  EXPECT_LT(++intervals, 1000);
  const auto [low, high] = clopper_pearson(count, trials, alpha);
  return low <= probability + 1e-12 && probability - 1e-12 <= high;
}

using Tables = PrefixTable<RatioTable>;
using Doubles = std::vector<double>;

Tables tables_of(const small::Model& model, int conditionals) {
  std::vector<RatioTable> tables;
  for (int c = 0; c < conditionals; ++c) {
    const auto& rows = model.distributions(c);
    Doubles target, proposal;
    for (Token x = 0; x < rows.vocabulary(); ++x) {
      target.push_back(static_cast<double>(rows.target(x)));
      proposal.push_back(static_cast<double>(rows.proposal(x)));
    }
    tables.emplace_back(target, proposal);
  }
  return Tables(std::move(tables));
}

/// Calls visit(tree, step) for each of `trials` trials.
template <class Source, class Draw, class Decide, class Visit>
void run_trials_of(std::uint64_t trials, std::uint64_t seed, Draw draw, Decide decide, Visit visit) {
  DraftTree tree;
  for (std::uint64_t n = 0; n < trials; ++n) {
    tree.clear(0);
    Source drafting(seed, n, Philox::Role::draft), verifying(seed, n, Philox::Role::verify);
    draw(drafting, tree);
    visit(tree, decide(tree, verifying));
  }
}

/// Counts emitted tokens by the prefix before them, and steps by the number of accepted tokens.
struct Emitted {
  std::map<Tokens, std::map<Token, std::uint64_t>> after;
  std::vector<std::uint64_t> beyond = std::vector<std::uint64_t>(8);  ///< [n]: number of steps that accept at least n

  void operator()(const DraftTree& tree, const StepOutput& step) {
    Tokens tokens = path_to(tree, step.node);
    for (std::size_t depth = 0; depth <= tokens.size(); ++depth) ++beyond[depth];
    tokens.push_back(step.extra.token);
    for (std::size_t n = 0; n < tokens.size(); ++n)
      ++after[Tokens(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(n))][tokens[n]];
  }

  /// Returns the number of frequencies outside their confidence interval. In a correct program the tokens emitted
  /// after a prefix are independent draws from the target.
  int wrong(const Tables& tables) const {
    int wrong = 0;
    for (const auto& [prefix, counts] : after) {
      int context = 0;
      for (const Token x : prefix) context = tables.next(context, x);
      std::uint64_t total = 0;
      for (const auto& [x, count] : counts) total += count;
      for (Token x = 0; x < tables.vocabulary(); ++x) {
        const auto found = counts.find(x);
        wrong += !within(found == counts.end() ? 0 : found->second, total, tables.distributions(context).target(x));
      }
    }
    return wrong;
  }
};

Emitted emitted_by(std::string_view scheme, const Tables& tables, const TreeShape& shape, std::uint64_t trials,
                   std::uint64_t seed) {
  const AnyPathVerifier& verifier = small::verifier(scheme);
  const AnyTreeDrafter* drafter = path_registry().drafters_of(verifier.info()).front();
  EXPECT_TRUE(drafter->info().shared_noise());
  const auto decider = verifier.simulate_on(tables, shape);
  Emitted emitted;
  run_trials_of<Philox>(
      trials, seed, [&](Philox& random, DraftTree& tree) { drafter->draw(tables, shape, random, tree); },
      [&](const DraftTree& tree, Philox& random) { return decider->decide(tree, {}, random); }, std::ref(emitted));
  return emitted;
}

/// Returns the tokens drawn at every node, in the order of the draws.
std::vector<Tokens> draws_of(const DraftTree& tree) {
  std::vector<Tokens> draws(static_cast<std::size_t>(tree.size()));
  for (int u = 0; u < tree.size(); ++u)
    for (const int child : tree.draws(u)) draws[static_cast<std::size_t>(u)].push_back(tree.token(child));
  return draws;
}

TEST(NoiseTrees, HaveTheDistributionTheyName) {
  int drafters = 0;
  for (const auto& drafter : path_registry().drafters()) {
    if (!drafter->info().shared_noise()) continue;
    ++drafters;
    const AnyTreeDrafter& form = small::drafter(drafter->info().marginal_sampling_of);
    for (int seed = 0; seed < 2; ++seed) {
      const bool branches = drafter->info().branches;
      const auto model = small::random_model(seed, branches ? 3 : 2, 1);
      const TreeShape shape{
          .drafts = 2, .length = 2, .branching = branches ? std::vector{2, 1} : std::vector<int>{}, .stem = 0};
      std::map<std::vector<Tokens>, double> wanted;
      EXPECT_NE((explore_trees<Rows<Rational>, Rational>(form, model, shape, 0, {},
                                                         [&](const DraftTree& tree, const Rational& q) {
                                                           wanted[draws_of(tree)] += static_cast<double>(q);
                                                         })),
                0u);
      EXPECT_GT(wanted.size(), 3u);
      const Tables tables = tables_of(model, 1 + model.vocabulary());
      std::map<std::vector<Tokens>, std::uint64_t> counts;
      constexpr std::uint64_t trials = 20'000;
      run_trials_of<Philox>(
          trials, 40 + static_cast<std::uint64_t>(seed),
          [&](Philox& random, DraftTree& tree) { drafter->draw(tables, shape, random, tree); },
          [](const DraftTree&, Philox&) { return StepOutput{}; },
          [&](const DraftTree& tree, const StepOutput&) { ++counts[draws_of(tree)]; });
      for (const auto& [draws, count] : counts) EXPECT_TRUE(wanted.contains(draws));
      for (const auto& [draws, probability] : wanted)
        EXPECT_TRUE(within(counts[draws], trials, probability)) << drafter->info().name << ", model " << seed;
    }
  }
  EXPECT_EQ(drafters, 3);
}

TEST(NoiseTrees, WalksEmitTheTargetAfterEveryPrefix) {
  for (const auto& [scheme, drafts] : {std::pair("gls_tree", 3),
                                       {"gumbel_coupling_tree", 1},
                                       {"dual_key_gumbel_tree", 1},
                                       {"gumbel_top_k_coupling_tree", 2},
                                       {"weighted_minhash_tree", 1}})
    for (int seed = 0; seed < 3; ++seed) {
      const auto model = small::random_model(seed, 3, 2);
      const Tables tables = tables_of(model, 13);
      const Emitted emitted =
          emitted_by(scheme, tables, {.drafts = drafts, .length = 2}, 20'000, 50 + static_cast<std::uint64_t>(seed));
      EXPECT_EQ(emitted.wrong(tables), 0) << scheme << ", model " << seed;
      EXPECT_GT(emitted.beyond[2], 0u) << scheme << ", model " << seed;
    }
}

const Doubles noise_target{0.4, 0.05, 0.25, 0.1, 0.2}, noise_proposal{0.1, 0.3, 0.3, 0.3, 0};

/// Returns the probability that both drafts of GLS equal its token, a sum over tokens j that is derived as in
/// optimum/race_acceptance.hpp with r = p_j / q_j. Token j wins in one of the streams at time t with density p_j e^(-t
/// phi(r)). In the other stream, the probability that nothing arrives before t under p and that the draft is j is q_j t
/// times the integral of e^(-t phi(u)) over u > r. The integral of the product over t gives 1 / (phi(r) + phi(u))^2,
/// whose integral over u is computed piece by piece, because phi is linear between ratios.
double both_drafts(const Doubles& p, const Doubles& q) {
  const auto phi = [&](double u) {
    double sum = 0;
    for (std::size_t i = 0; i < p.size(); ++i) sum += std::max(p[i], u * q[i]);
    return sum;
  };
  double both = 0;
  for (std::size_t j = 0; j < p.size(); ++j) {
    if (p[j] == 0 || q[j] == 0) continue;
    const double r = p[j] / q[j];
    Doubles ends{r};
    for (std::size_t i = 0; i < p.size(); ++i)
      if (q[i] > 0 && p[i] / q[i] > r) ends.push_back(p[i] / q[i]);
    std::sort(ends.begin(), ends.end());
    for (std::size_t e = 0; e < ends.size(); ++e) {
      double slope = 0;
      for (std::size_t i = 0; i < p.size(); ++i)
        if (q[i] > 0 && p[i] / q[i] <= ends[e]) slope += q[i];
      const double begins = 1 / (phi(r) + phi(ends[e]));
      const double stops = e + 1 < ends.size() ? 1 / (phi(r) + phi(ends[e + 1])) : 0;
      both += 2 * p[j] * q[j] * (begins - stops) / slope;
    }
  }
  return both;
}

TEST(NoiseTrees, BothDraftsInNumbersKnownOtherwise) {
  // With p = q, target and draft have the same winner in each stream. The token is the winner of the earlier stream,
  // and the winner of the later stream is an independent draw.
  EXPECT_NEAR(both_drafts({0.5, 0.5}, {0.5, 0.5}), 0.5, 1e-15);
  EXPECT_NEAR(both_drafts({1, 0}, {1, 0}), 1, 1e-15);
  EXPECT_EQ(both_drafts({1, 0}, {0, 1}), 0);
}

TEST(NoiseTrees, WalksAcceptWhatOnePositionGivesLevelByLevel) {
  const auto &p = noise_target, &q = noise_proposal;
  const Tables tables({RatioTable(p, q)});
  constexpr std::uint64_t trials = 100'000;
  const double one = acceptance::gumbel(p, q), two = acceptance::gls_exact(p, q, 2), both = both_drafts(p, q);
  ASSERT_LT(both, two);
  const auto expect = [&](std::string_view scheme, const TreeShape& shape, const Doubles& wanted) {
    const Emitted emitted = emitted_by(scheme, tables, shape, trials, 60);
    for (std::size_t depth = 0; depth < wanted.size(); ++depth)
      EXPECT_TRUE(within(emitted.beyond[depth + 1], trials, wanted[depth]))
          << scheme << ": " << emitted.beyond[depth + 1] << " of " << trials << " accept " << depth + 1
          << " tokens, expected " << wanted[depth];
  };
  const TreeShape path{.drafts = 1, .length = 3}, paths{.drafts = 2, .length = 3};
  expect("gumbel_coupling_tree", path, {one, one * one, one * one * one});
  expect("gls_tree", path, {one, one * one, one * one * one});
  const double darts = acceptance::minhash(p, q);
  expect("weighted_minhash_tree", path, {darts, darts * darts, darts * darts * darts});
  // The number of the two paths that agree with the emitted tokens so far is a Markov chain: if it is two, it stays two
  // with probability `both`.
  Doubles wanted;
  double with_two = 1, with_one = 0;
  for (int depth = 0; depth < 3; ++depth) {
    with_one = with_two * (two - both) + with_one * one;
    with_two *= both;
    wanted.push_back(with_one + with_two);
  }
  expect("gls_tree", paths, wanted);
  const double race = acceptance::shared_race_exact(p, q, 2);
  expect("gumbel_top_k_coupling_tree", {.drafts = 2, .length = 3, .branching = {2, 1, 1}, .stem = 0},
         {race, race * one, race * one * one});
}

TEST(NoiseTrees, EqualDistributionsAcceptWholePaths) {
  // With four paths, the verifier may still follow the second and the fourth path after some tokens, for example. It
  // must then read the noise streams of these two paths, which are not consecutive.
  for (const auto& [scheme, drafts] : {std::pair("gls_tree", 4),
                                       {"gumbel_coupling_tree", 1},
                                       {"gumbel_top_k_coupling_tree", 3},
                                       {"weighted_minhash_tree", 1}}) {
    const Tables tables = tables_of(small::random_model(1, 3, 2, small::Kind::equal), 13);
    EXPECT_EQ(emitted_by(scheme, tables, {.drafts = drafts, .length = 3}, 2000, 80).beyond[3], 2000u) << scheme;
  }
}

/// A source with a bug: its noise is the same at all depths of a path.
struct Depthless : Philox {
  using Philox::Philox;
  NoiseBlock noise(std::uint32_t stream, std::uint32_t block) const {
    return Philox::noise(stream - stream % stream_numbers, block);
  }
};

/// A source with a bug: drafter and verifier read different noise.
struct Separate : Philox {
  Separate(std::uint64_t seed, std::uint64_t trial, Role role) : Philox(seed, trial, role), role_{role} {}
  NoiseBlock noise(std::uint32_t stream, std::uint32_t block) const {
    return Philox::noise(stream + (role_ == Role::verify ? 1000u : 0u), block);
  }

 private:
  Role role_;
};

template <class Source>
Emitted one_path_of(const Tables& tables, int length, std::uint64_t trials) {
  const NodeByNode<verifiers::Gls> lifted;
  const TreeShape shape{.drafts = 1, .length = length};
  auto plans = lifted.prepare(tables, shape);
  Emitted emitted;
  run_trials_of<Source>(
      trials, 70,
      [&](Source& random, DraftTree& tree) { tree_drafters::GumbelPaths{}.draw(tables, shape, random, tree); },
      [&](const DraftTree& tree, Source& random) {
        return lifted.verify(DraftedTree<RatioTable>(tables, tree), plans, random);
      },
      std::ref(emitted));
  return emitted;
}

TEST(NoiseTrees, NoiseReadAgainAtALaterDepthIsSeenByTheDistribution) {
  const Tables tables({RatioTable(noise_target, noise_proposal)});
  EXPECT_GT(one_path_of<Depthless>(tables, 2, 20'000).wrong(tables), 0);
  EXPECT_EQ(one_path_of<Philox>(tables, 2, 20'000).wrong(tables), 0);
}

TEST(NoiseTrees, NoiseThatIsNotSharedIsSeenByWhatItAccepts) {
  const Tables tables({RatioTable(noise_target, noise_proposal)});
  constexpr std::uint64_t trials = 20'000;
  const Emitted emitted = one_path_of<Separate>(tables, 1, trials);
  EXPECT_EQ(emitted.wrong(tables), 0);
  EXPECT_FALSE(within(emitted.beyond[1], trials, acceptance::gumbel(noise_target, noise_proposal)));
  EXPECT_TRUE(within(emitted.beyond[1], trials, acceptance::sample_and_match(noise_target, noise_proposal, 1)));
}

TEST(NoiseTrees, AreHeldToWhatTrialsDecide) {
  int nodes = 0;
  for (const auto& verifier : path_registry().verifiers()) {
    if (!verifier->info().shared_noise) continue;
    ++nodes;
    for (const AnyTreeDrafter* drafter : path_registry().drafters_of(verifier->info())) {
      EXPECT_TRUE(drafter->info().shared_noise());
      const PathProof proof = prove(*verifier, *drafter, {.instances = 48});
      EXPECT_FALSE(proof.provable());
      EXPECT_TRUE(proof.kept()) << verifier->info().name;
      std::vector<std::string_view> asked;
      for (const Finding& finding : proof.findings)
        if (finding.passed > 0) asked.push_back(finding.property);
      const std::vector<std::string_view> claimed{"drafter_invariance", "equal_distributions"};
      EXPECT_EQ(asked, std::vector(claimed.begin() + !verifier->info().claims.drafter_invariant, claimed.end()));
    }
  }
  EXPECT_EQ(nodes, 6);
}

}  // namespace
}  // namespace draftproof
