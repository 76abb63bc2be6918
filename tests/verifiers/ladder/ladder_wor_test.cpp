// The ladder for drafts without replacement: reference values, its selected law by enumeration, the optimum of its
// draft law, and buckets of any shape, all in fractions; on captured rows in double.
#include <algorithm>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <draftproof/captures/source.hpp>
#include <draftproof/optimum/exponential_clocks.hpp>
#include <draftproof/properties/proof/output_law.hpp>
#include <draftproof/properties/prover/prover.hpp>
#include <draftproof/sim/distributions/streamed_rows.hpp>
#include <draftproof/sim/drafters/sampled.hpp>
#include <draftproof/tests/support/bucketed_rows.hpp>
#include <draftproof/verifiers/ladder_wor.hpp>

namespace draftproof {
namespace {

using verifiers::LadderWor;

std::vector<Rational> wor_fractions(const nlohmann::json& texts) {
  std::vector<Rational> values;
  for (const auto& text : texts) values.emplace_back(text.get<std::string>());
  return values;
}

/// p_I by token, as the plan states it.
template <class L>
auto planned_wor_law(const L& laws, int drafts) {
  const auto plan = LadderWor{}.prepare(laws, drafts);
  std::vector<typename L::Scalar> law;
  for (Token x = 0; x < laws.vocabulary(); ++x) law.push_back(plan.core().selected(laws, x));
  return law;
}

/// Output law and acceptance by an enumeration of every branch.
struct Enumerated {
  std::vector<Rational> output;
  Rational accepted = 0;
};
template <class L>
Enumerated enumerate_wor(const L& laws, int drafts) {
  Enumerated law;
  law.output.resize(static_cast<std::size_t>(laws.vocabulary()));
  const LadderWor ladder;
  const auto plan = ladder.prepare(laws, drafts);
  Explorer<Rational> explorer;
  Token tuple[max_drafts];
  EXPECT_TRUE(explorer.explore(
      [&](Explorer<Rational>& random) {
        const int count = drafters::WithoutReplacement{}.draw(laws, drafts, random, tuple);
        return verify(ladder, DraftedPosition<L>(laws, tuple, count), plan, random);
      },
      [&](const Leaf<Rational>& leaf) {
        if (leaf.verdict.token >= 0) {
          law.output[static_cast<std::size_t>(leaf.verdict.token)] += leaf.probability;
          law.accepted += leaf.probability;
        }
        for (const auto& [token, weight] : leaf.spread)
          law.output[static_cast<std::size_t>(token)] += leaf.probability * weight / leaf.spread_total;
      }));
  return law;
}

/// Law of the selected draft alone: the decision without its accept test.
template <class L>
std::vector<Rational> enumerated_selection(const L& laws, int drafts) {
  std::vector<Rational> law(static_cast<std::size_t>(laws.vocabulary()));
  const auto plan = LadderWor{}.prepare(laws, drafts);
  Explorer<Rational> explorer;
  Token tuple[max_drafts];
  EXPECT_TRUE(explorer.explore(
      [&](Explorer<Rational>& random) {
        const int count = drafters::WithoutReplacement{}.draw(laws, drafts, random, tuple);
        const int chosen = choose_distinct(DraftedPosition<L>(laws, tuple, count), plan.core(), random);
        return accepted(tuple[chosen], chosen);
      },
      [&](const Leaf<Rational>& leaf) { law[static_cast<std::size_t>(leaf.verdict.token)] += leaf.probability; }));
  return law;
}

TEST(LadderWor, LawAndAcceptanceAreTheReferenceOnes) {
  std::ifstream file(DRAFTPROOF_SOURCE_DIR "/tests/golden/ladder_wor.json");
  const auto cases = nlohmann::json::parse(file).at("token");
  ASSERT_EQ(cases.size(), 40u);
  for (const auto& entry : cases) {
    const Rows<Rational> rows(wor_fractions(entry.at("p")), wor_fractions(entry.at("q")));
    const int drafts = entry.at("K");
    EXPECT_EQ(planned_wor_law(rows, drafts), wor_fractions(entry.at("selected_law"))) << entry.dump();
    EXPECT_EQ(enumerate_wor(rows, drafts).accepted, Rational(entry.at("acceptance").get<std::string>()))
        << entry.dump();
  }
}

TEST(LadderWor, TheSelectedDraftHasThePlannedLawInAnyBuckets) {
  int coarse = 0;
  for (int n = 0; n < 120; ++n) {
    const Instance instance = generate_instance(51, n, 3, false);
    InstanceRng dice(52, static_cast<std::uint64_t>(n));
    Bucketed laws{instance.rows(), {}};
    for (int x = 0; x < instance.vocabulary(); ++x) laws.bucket.push_back(dice.between(0, instance.vocabulary() - 1));
    EXPECT_EQ(enumerated_selection(laws, instance.drafts), planned_wor_law(laws, instance.drafts)) << instance.text();
    const auto law = enumerate_wor(laws, instance.drafts);
    EXPECT_EQ(law.output, normalised(instance.target)) << instance.text();
    const auto fine = enumerate_wor(Rows<Rational>(laws), instance.drafts);
    EXPECT_LE(law.accepted, fine.accepted) << instance.text();
    coarse += law.accepted < fine.accepted;
  }
  EXPECT_GT(coarse, 15);  // buckets without a loss would make the test vacuous
}

TEST(LadderWor, OneTokenABinReachesTheOptimumExactly) {
  const AnyVerifier& ladder = *registry().verifier("ladder_wor");
  const AnyDrafter& drafter = *registry().drafter("without_replacement");
  for (int n = 0; n < 400; ++n) {
    const Instance instance = generate_instance(61, n, 4, false);
    InstanceAnalysis at(ladder, drafter, instance);
    ASSERT_EQ(at.law().membership, at.optimum()) << instance.text();
    const auto rows = instance.rows();
    const auto selected = planned_wor_law(rows, instance.drafts);
    Rational overlap = 0;
    for (Token x = 0; x < rows.vocabulary(); ++x)
      overlap += std::min(rows.target(x), selected[static_cast<std::size_t>(x)]);
    ASSERT_EQ(overlap, at.optimum()) << instance.text();
  }
}

// The race in double against all subsets in fractions. The integral errs by 1e-14 of itself, and V terms round.
TEST(LadderWor, TheRaceHasTheChordsOfTheSubsets) {
  int compared = 0;
  for (int n = 0; n < 150; ++n) {
    const Instance instance = generate_instance(71, n, 5, false);
    const auto exact = instance.rows();
    const auto doubles = [](const std::vector<Rational>& row) {
      std::vector<double> values;
      for (const Rational& value : row) values.push_back(static_cast<double>(value));
      return values;
    };
    const Rows<double> rows(doubles(normalised(instance.target)), doubles(normalised(instance.proposals.front())));
    const auto bins = exact.bins();
    const auto near = rows.bins();
    if (bins.by_token() != near.by_token()) continue;  // equal ratios that round to different ones
    ++compared;
    for (int drafts = 1; drafts <= 6; ++drafts) {
      const WorCoverage<Rational> want(exact, bins, drafts);
      const WorCoverage<double> got(rows, near, drafts);
      for (int i = 0; i < bins.size(); ++i)
        ASSERT_NEAR(got.chord(i, i + 1), static_cast<double>(want.chord(i, i + 1)), 2e-13)
            << instance.text() << " K = " << drafts << ", bin " << i;
    }
  }
  EXPECT_GT(compared, 100);
}

/// sum min(p, p_I) of a plan.
template <class L>
double planned_wor_acceptance(const L& laws, int drafts) {
  const auto plan = LadderWor{}.prepare(laws, drafts);
  double sum = 0;
  for (Token x = 0; x < laws.vocabulary(); ++x) sum += std::min(laws.target(x), plan.core().selected(laws, x));
  return sum;
}

TEST(LadderWor, CapturedRowsReachTheOptimumAndBucketsNearlyDo) {
  registry();
  for (const char* file : {"/data/stories512_positions.npz", "/data/mixed32k_positions.npz"}) {
    const Source source = Source::open(DRAFTPROOF_SOURCE_DIR + std::string(file));
    const std::size_t step = source.pair(0).target.size() > 1000 ? 16 : 24;
    for (const int drafts : {1, 2, 3, 4, 8}) {
      double lost = 0;
      int positions = 0;
      for (std::size_t i = 0; i < source.positions(); i += step, ++positions) {
        const RowPair pair = source.pair(i);
        const RatioTable table(pair.target, pair.proposals);
        const double optimum = without_replacement_optimum(table, drafts).acceptance;
        // Both integrals err by 1e-14 of themselves and round V times.
        EXPECT_NEAR(planned_wor_acceptance(table, drafts), optimum, 1e-12) << file << " position " << i;
        const std::vector<float> p(pair.target.begin(), pair.target.end()),
            q(pair.proposals[0].begin(), pair.proposals[0].end());
        const FreshRows<float> rows{std::span<const float>(p), std::span<const float>(q)};
        lost += optimum - planned_wor_acceptance(rows, drafts);
      }
      EXPECT_LE(lost / positions, 5e-4) << file << ", K = " << drafts;
    }
  }
}

}  // namespace
}  // namespace draftproof
