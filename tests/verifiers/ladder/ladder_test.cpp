// The ladder's claims in fractions: its law, its optimum, and that buckets of any shape reduce acceptance only.
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <draftproof/captures/family.hpp>
#include <draftproof/captures/source.hpp>
#include <draftproof/optimum/iid_acceptance.hpp>
#include <draftproof/optimum/set_law.hpp>
#include <draftproof/properties/proof/output_law.hpp>
#include <draftproof/properties/prover/prover.hpp>
#include <draftproof/properties/subjects/erased.hpp>
#include <draftproof/sim/drafters/sampled.hpp>
#include <draftproof/tests/support/bucketed_rows.hpp>
#include <draftproof/verifiers/ladder.hpp>

namespace draftproof {
namespace {

using verifiers::Ladder;

std::vector<Rational> fractions(const nlohmann::json& texts) {
  std::vector<Rational> values;
  for (const auto& text : texts) values.emplace_back(text.get<std::string>());
  return values;
}

/// p_I by token id, as the plan states it.
template <class L>
std::vector<Rational> selected_law(const L& laws, const Ladder::Core<L>& core) {
  std::vector<Rational> law;
  for (Token x = 0; x < laws.vocabulary(); ++x) law.push_back(core.selected(laws, x));
  return law;
}

TEST(Ladder, LevelsLawAndAcceptanceAreTheReferenceOnes) {
  std::ifstream file(DRAFTPROOF_SOURCE_DIR "/tests/golden/ladder.json");
  const auto cases = nlohmann::json::parse(file).at("token");
  ASSERT_EQ(cases.size(), 40u);
  for (const auto& entry : cases) {
    const Rows<Rational> rows(fractions(entry.at("p")), fractions(entry.at("q")));
    const Ladder::Core<Rows<Rational>> core(rows, entry.at("K"));
    EXPECT_EQ(selected_law(rows, core), fractions(entry.at("selected_law"))) << entry.dump();
    EXPECT_EQ(core.plan.acceptance, Rational(entry.at("acceptance").get<std::string>())) << entry.dump();
  }
}

/// Output law and probability of each draft position's token being selected, by an enumeration of every branch.
template <class L>
ExactLaw<Rational> walk(const L& laws, int drafts) {
  std::vector<Rational> output(static_cast<std::size_t>(laws.vocabulary()));
  Rational flag = 0, mass = 0;
  const Ladder ladder;
  const auto plan = prepare(ladder, laws, drafts);
  Explorer<Rational> explorer;
  Token tuple[max_drafts];
  EXPECT_TRUE(explorer.explore(
      [&](Explorer<Rational>& random) {
        const int count = drafters::Iid{}.draw(laws, drafts, random, tuple);
        return verify(ladder, DraftedPosition<L>(laws, tuple, count), plan, random);
      },
      [&](const Leaf<Rational>& leaf) {
        mass += leaf.probability;
        if (leaf.verdict.token >= 0) {
          output[static_cast<std::size_t>(leaf.verdict.token)] += leaf.probability;
          flag += leaf.probability;
        }
        for (const auto& [token, weight] : leaf.spread)
          output[static_cast<std::size_t>(token)] += leaf.probability * weight / leaf.spread_total;
      }));
  ExactLaw<Rational> law;
  law.output = output;
  law.flag = flag;
  law.mass = mass;
  return law;
}

TEST(Ladder, AnyBucketsAreLosslessAndNeverAboveTheOptimum) {
  int coarse = 0;
  for (int n = 0; n < 150; ++n) {
    const Instance instance = generate_instance(31, n, 3, false);
    InstanceRng dice(32, static_cast<std::uint64_t>(n));
    Bucketed laws{instance.rows(), {}};
    for (int x = 0; x < instance.vocabulary(); ++x) laws.bucket.push_back(dice.between(0, instance.vocabulary() - 1));
    const auto law = walk(laws, instance.drafts);
    EXPECT_EQ(law.output, normalised(instance.target)) << instance.text();
    EXPECT_EQ(law.mass, 1);
    const Ladder::Core<Rows<Rational>> fine(laws, instance.drafts);
    EXPECT_LE(law.flag, fine.plan.acceptance) << instance.text();
    coarse += law.flag < fine.plan.acceptance;
  }
  EXPECT_GT(coarse, 20);  // buckets without a loss would make the test vacuous
}

TEST(Ladder, OneTokenABinReachesTheOptimumExactly) {
  const AnyVerifier& ladder = *registry().verifier("ladder");
  const AnyDrafter& iid = *registry().drafter("iid");
  for (int n = 0; n < 2000; ++n) {
    const Instance instance = generate_instance(41, n, 4, false);
    const auto rows = instance.rows();
    const Ladder::Core<Rows<Rational>> core(rows, instance.drafts);
    // The plan's acceptance against all cuts; for every tenth instance also an enumeration.
    InstanceAnalysis at(ladder, iid, instance);
    ASSERT_EQ(core.plan.acceptance, at.optimum()) << instance.text();
    const auto selected = selected_law(rows, core);
    Rational overlap = 0;
    for (Token x = 0; x < rows.vocabulary(); ++x)
      overlap += std::min(rows.target(x), selected[static_cast<std::size_t>(x)]);
    ASSERT_EQ(overlap, at.optimum()) << instance.text();
    if (n % 10 == 0) {
      ASSERT_EQ(at.law().membership, at.optimum()) << instance.text();
    }
  }
}

/// sum min(p, p_I) of a plan.
template <class L>
double planned_acceptance(const L& laws, int drafts) {
  const Ladder::Core<L> core(laws, drafts);
  return laws.sum([&](Token x) { return std::min(laws.target(x), core.selected(laws, x)); });
}

// If the optimum is 1, p_I is p and a refusal would have an empty residual: in double p_I may differ from p by a
// rounding, and the plan's acceptance may differ from 1.
TEST(Ladder, RoundingReachesNoEmptyResidual) {
  const auto explore = [](const Instance& instance) {
    const auto p = normalised(instance.target), q = normalised(instance.proposals.front());
    const auto doubles = [](const std::vector<Rational>& row) {
      std::vector<double> values;
      for (const Rational& value : row) values.push_back(static_cast<double>(value));
      return values;
    };
    const Rows<double> rows(doubles(p), doubles(q));
    const auto decider = registry().verifier("ladder")->explore_on(rows, instance.drafts);
    const auto law = explore_law(*registry().drafter("iid"), *decider, rows, instance.drafts);
    // A dozen roundings on each of at most 8^4 leaves.
    EXPECT_NEAR(law.membership, iid_optimum(RatioTable(doubles(p), doubles(q)), instance.drafts).acceptance, 1e-12)
        << instance.text();
  };
  explore(Instance::parse("p=(4 5)/9 q=(2 1)/3 K=2"));
  for (int n = 0; n < 2000; ++n) explore(generate_instance(77, n, 3, false));
}

TEST(Ladder, RoundingCostsNothingOnCapturedDistributions) {
  // Narrow bins among wide ones: tokens of 1e-12 beside tokens of 0.1. Slopes and kinks are formed without
  // cancellation, so each of K chords has a relative error of a few 2^-53, in addition to V truncations of 2^-60.
  registry();
  const Source source = Source::open(DRAFTPROOF_SOURCE_DIR "/data/stories512_positions.npz");
  for (std::size_t i = 0; i < source.positions(); i += 12) {
    const RowPair pair = source.pair(i);
    const RatioTable table(pair.target, pair.proposals);
    for (const int drafts : {1, 2, 4, 8})
      EXPECT_NEAR(planned_acceptance(table, drafts), iid_optimum(table, drafts).acceptance, 1e-12)
          << "position " << i << ", K = " << drafts;
  }
}

/// Acceptance of the bucketed ladder at large V, from its plan: sum min(p, p_I).
double bucketed_acceptance(const RowPair& pair, int drafts) {
  return planned_acceptance(FreshRows<double>(pair.target, std::span<const double>(pair.proposals[0])), drafts);
}

TEST(Ladder, BucketsCloseNinetyNinePercentOfTheGapAtLargeVocabularies) {
  registry();
  for (const char* spec : {"gaussian_logits:vocabulary=128256,sigma=2.5,noise=1", "zipf:vocabulary=128256"}) {
    const RowPair pair = parse_family(spec).pair(7, 0);
    const RatioTable table(pair.target, pair.proposals);
    double b = 0;
    for (int k = 0; k < 4; ++k) b += table.residual_mass(b);
    const double rejection = 1 - table.residual_mass(b);
    const double optimum = iid_optimum(table, 4).acceptance;
    const double ladder = bucketed_acceptance(pair, 4);
    EXPECT_GT(optimum - rejection, 1e-3) << spec << ": no gap to close";
    EXPECT_GE((ladder - rejection) / (optimum - rejection), 0.99) << spec;
    EXPECT_LE(ladder, optimum + 1e-9) << spec;  // V truncations of 2^-60 and one rounding a bin
  }
}

}  // namespace
}  // namespace draftproof
