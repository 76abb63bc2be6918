// The ladder for drafts that go on uniformly where q runs out: exact law, optimum and selected law in fractions, and
// rows in double against the optimum of the draft law.
#include <gtest/gtest.h>

#include <draftproof/captures/source.hpp>
#include <draftproof/optimum/laws/closed_forms.hpp>
#include <draftproof/properties/proof/instance_analysis.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/sim/distributions/streamed_rows.hpp>
#include <draftproof/sim/drafters/sampled.hpp>
#include <draftproof/sim/random/explorer.hpp>
#include <draftproof/sim/random/philox.hpp>
#include <draftproof/verifiers/ladder_wor.hpp>

namespace draftproof {
namespace {

using verifiers::LadderWor;

/// Weights from 0 to `most`, q with `support` tokens, and K larger than that.
Instance exhausted_instance(InstanceRng& dice, int vocabulary, int support, int most) {
  Instance instance;
  for (int x = 0; x < vocabulary; ++x) instance.target.push_back(dice.between(0, most));
  instance.proposals.emplace_back();
  for (int x = 0; x < vocabulary; ++x) instance.proposals[0].push_back(x < support ? dice.between(1, most) : 0);
  for (int x = vocabulary; x-- > 1;)
    std::swap(instance.proposals[0][static_cast<std::size_t>(x)],
              instance.proposals[0][static_cast<std::size_t>(dice.between(0, x))]);
  instance.target[static_cast<std::size_t>(dice.between(0, vocabulary - 1))] += 1;
  instance.drafts = dice.between(support + 1, std::min(vocabulary, support + 2));
  return instance;
}

TEST(LadderUniformRest, TheLawIsExactAndTheOptimumAttained) {
  const AnyVerifier& ladder = *registry().verifier("ladder_wor");
  const AnyDrafter& drafter = *registry().drafter("without_replacement_uniform");
  int between = 0;
  for (int n = 0; n < 1200; ++n) {
    InstanceRng dice(81, static_cast<std::uint64_t>(n));
    const int vocabulary = dice.between(2, 6), support = dice.between(1, std::min(vocabulary - 1, 2));
    const Instance instance = exhausted_instance(dice, vocabulary, support, n % 2 == 0 ? 4 : 30);
    InstanceAnalysis at(ladder, drafter, instance);
    ASSERT_TRUE(at.law().complete) << instance.text();
    ASSERT_EQ(at.law().output, normalised(instance.target)) << instance.text();
    ASSERT_EQ(at.law().membership, at.optimum()) << instance.text();
    ASSERT_EQ(at.law().flag, at.optimum()) << instance.text();
    const auto rows = instance.rows();
    const auto plan = LadderWor{}.prepare(rows, instance.drafts);
    ASSERT_TRUE(plan.rest) << instance.text();
    Rational overlap = 0, selected = 0;
    for (Token x = 0; x < vocabulary; ++x) {
      const bool inside = rows.proposal(x) > 0;
      const Rational one = inside ? rows.target(x) : plan.rest->selected(x);
      selected += one;
      overlap += std::min(rows.target(x), one);
    }
    ASSERT_EQ(selected, 1) << instance.text();
    ASSERT_EQ(overlap, at.optimum()) << instance.text();
    between += at.optimum() < 1;
  }
  EXPECT_GT(between, 200);  // where everything is accepted a choice cannot be wrong
}

// While the support of q lasts the two draft laws are one.
TEST(LadderUniformRest, BothDraftLawsAgreeWhileTheSupportLasts) {
  const AnyVerifier& ladder = *registry().verifier("ladder_wor");
  for (int n = 0; n < 60; ++n) {
    InstanceRng dice(82, static_cast<std::uint64_t>(n));
    Instance instance = exhausted_instance(dice, 4, 3, 9);
    instance.drafts = dice.between(1, 3);
    InstanceAnalysis stop(ladder, *registry().drafter("without_replacement"), instance),
        uniform(ladder, *registry().drafter("without_replacement_uniform"), instance);
    EXPECT_EQ(stop.law().membership, uniform.law().membership) << instance.text();
    EXPECT_EQ(stop.law().membership, stop.optimum()) << instance.text();
  }
}

/// Share of accepted trials.
template <class L>
double accepted_share(const L& laws, int drafts, int trials) {
  const LadderWor ladder;
  const auto plan = ladder.prepare(laws, drafts);
  int accepted = 0;
  Token tuple[max_drafts];
  for (int t = 0; t < trials; ++t) {
    Philox draws(3, static_cast<std::uint64_t>(t), Philox::Role::draft),
        random(4, static_cast<std::uint64_t>(t), Philox::Role::verify);
    const int count = drafters::WithoutReplacementUniform{}.draw(laws, drafts, draws, tuple);
    const Verdict verdict = ladder.verify(DraftedPosition<L>(laws, tuple, count), plan, random);
    accepted += verdict.accepted >= 0;
    EXPECT_EQ(verdict.accepted >= 0, among(verdict.token, tuple, count));
  }
  return accepted / static_cast<double>(trials);
}

// On fresh rows the tokens that q lacks are in buckets: every branch of a decision, in double. Sums over the vocabulary
// truncate by at most V 2^-60, the masses of a branch round a few times: 1e-12 is far above both.
TEST(LadderUniformRest, BucketsOfFreshRowsHaveTheExactLaw) {
  int joined = 0, exhausted = 0;
  for (int n = 0; n < 200; ++n) {
    InstanceRng dice(83, static_cast<std::uint64_t>(n));
    const int vocabulary = dice.between(3, 9), support = dice.between(1, 2);
    std::vector<double> p, q;
    double p_sum = 0, q_sum = 0;
    for (int x = 0; x < vocabulary; ++x) {
      p.push_back(n % 2 == 0 ? dice.between(0, 9) : 100 + dice.between(0, 2));  // far apart, or several to a bucket
      q.push_back(x < support ? dice.between(1, 9) : 0);
    }
    p[0] += 1;
    for (const double one : p) p_sum += one;
    for (const double one : q) q_sum += one;
    for (double& one : p) one /= p_sum;
    for (double& one : q) one /= q_sum;
    const int drafts = dice.between(support + 1, std::min(vocabulary, support + 2));
    const FreshRows<double> rows{std::span<const double>(p), std::span<const double>(q)};
    const LadderWor ladder;
    const auto plan = ladder.prepare(rows, drafts);
    std::vector<double> law(p.size(), 0);
    Explorer<double> explorer;
    Token tuple[max_drafts];
    EXPECT_TRUE(explorer.explore(
        [&](Explorer<double>& random) {
          const int count = drafters::WithoutReplacementUniform{}.draw(rows, drafts, random, tuple);
          exhausted += count == drafts && !(rows.proposal(tuple[count - 1]) > 0);
          return ladder.verify(DraftedPosition<FreshRows<double>>(rows, tuple, count), plan, random);
        },
        [&](const Leaf<double>& leaf) {
          if (leaf.verdict.token >= 0) law[static_cast<std::size_t>(leaf.verdict.token)] += leaf.probability;
          for (const auto& [token, weight] : leaf.spread)
            law[static_cast<std::size_t>(token)] += leaf.probability * weight / leaf.spread_total;
        }));
    for (std::size_t x = 0; x < p.size(); ++x)
      EXPECT_NEAR(law[x], p[x], 1e-12) << "instance " << n << ", token " << x;
    const RestBuckets<HostWorkspace> buckets(HostWorkspace{}, rows, tuple, support);
    joined += buckets.size() - 1 < vocabulary - support;
  }
  EXPECT_GT(exhausted, 1000);
  EXPECT_GT(joined, 50);  // buckets of one token each would be those of the other test
}

// Drafts of a truncated row: three tokens of it are left, the target has 512. Five standard errors of the share; of its
// few positions one in a million would miss by chance.
TEST(LadderUniformRest, TruncatedRowsReachTheOptimum) {
  registry();
  const Source source = Source::open(DRAFTPROOF_SOURCE_DIR "/data/stories512_positions.npz");
  for (std::size_t i = 0; i < source.positions(); i += 97)
    for (const int drafts : {4, 8}) {
      RowPair pair = source.pair(i);
      auto& q = pair.proposals[0];
      std::vector<double> falling = q;
      std::sort(falling.rbegin(), falling.rend());
      double sum = 0;
      for (double& one : q) sum += one = one < falling[2] ? 0 : one;
      for (double& one : q) one /= sum;
      const RatioTable table(pair.target, pair.proposals);
      const double optimum = optima::WithoutReplacementUniform::find(table, drafts)->lower;
      const std::vector<float> p(pair.target.begin(), pair.target.end()), narrow(q.begin(), q.end());
      const FreshRows<float> rows{std::span<const float>(p), std::span<const float>(narrow)};
      constexpr int trials = 4000;
      const double error = 5 * std::sqrt(std::max(optimum * (1 - optimum), 1e-3) / trials);
      EXPECT_NEAR(accepted_share(table, drafts, trials), optimum, error) << "position " << i << ", K = " << drafts;
      EXPECT_NEAR(accepted_share(rows, drafts, trials / 10), optimum, error * std::sqrt(10.0))
          << "position " << i << ", K = " << drafts;
    }
}

}  // namespace
}  // namespace draftproof
