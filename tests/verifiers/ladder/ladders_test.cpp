// Tests of both ladders, for i.i.d. drafts and for drafts without replacement. In fractions, they test reference
// values, the distribution of the selected draft, the optimum of the draft sampling, and buckets of any shape. In
// double, on captured rows and on buckets of fresh rows, they test the distribution, the loss by buckets, and that
// every SIMD width gives the same bits.
#include <algorithm>
#include <cmath>
#include <concepts>
#include <fstream>
#include <iostream>
#include <numeric>
#include <random>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <draftproof/captures/family.hpp>
#include <draftproof/captures/source.hpp>
#include <draftproof/optimum/iid_acceptance.hpp>
#include <draftproof/optimum/race_acceptance.hpp>
#include <draftproof/properties/prover/prover.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/sim/distributions/streamed_rows.hpp>
#include <draftproof/sim/drafters/sampled.hpp>
#include <draftproof/sim/simd/dispatch.hpp>
#include <draftproof/tests/support/bucketed_rows.hpp>
#include <draftproof/tests/support/enumerated.hpp>
#include <draftproof/tests/support/exact.hpp>
#include <draftproof/tests/support/example_rows.hpp>
#include <draftproof/verifiers/ladder.hpp>
#include <draftproof/verifiers/ladder_wor.hpp>

namespace draftproof {
namespace {

struct OfIidDrafts {
  using Verifier = verifiers::Ladder;
  using Drafter = drafters::Iid;
  static constexpr const char* golden = "ladder.json";
  static constexpr int instances = 2000, enumerated_every = 10;
  static double optimum(const RatioTable& table, int drafts) { return iid_optimum(table, drafts).acceptance; }
};
struct OfDistinctDrafts {
  using Verifier = verifiers::LadderWor;
  using Drafter = drafters::WithoutReplacement;
  static constexpr const char* golden = "ladder_wor.json";
  static constexpr int instances = 400, enumerated_every = 1;
  static double optimum(const RatioTable& table, int drafts) {
    return without_replacement_optimum(table, drafts).acceptance;
  }
};

/// Returns p_I, the distribution of the selected draft, by token, as the plan of the verifier V states it.
template <class V, class L>
std::vector<typename L::Scalar> planned_distribution(const L& distributions, int drafts) {
  std::vector<typename L::Scalar> distribution;
  const auto add = [&](const auto& core) {
    for (Token x = 0; x < distributions.vocabulary(); ++x) distribution.push_back(core.selected(distributions, x));
  };
  if constexpr (std::same_as<V, verifiers::Ladder>)
    add(verifiers::Ladder::Core<L>(distributions, drafts));
  else
    add(V{}.prepare(distributions, drafts).core());
  return distribution;
}

/// Returns sum min(p, p_I), the acceptance that the plan of the verifier V states.
template <class V, class L>
typename L::Scalar planned_overlap(const L& distributions, int drafts) {
  const auto distribution = planned_distribution<V>(distributions, drafts);
  typename L::Scalar sum{0};
  for (Token x = 0; x < distributions.vocabulary(); ++x)
    sum += std::min<typename L::Scalar>(distributions.target(x), distribution[static_cast<std::size_t>(x)]);
  return sum;
}

/// Emits the selected draft without an acceptance test.
struct SelectsOnly {
  template <Distributions L>
  auto prepare(const L& distributions, int drafts) const {
    return verifiers::LadderWor{}.prepare(distributions, drafts);
  }
  template <class P, class Plan, class R>
  Verdict verify(const P& at, const Plan& plan, R& random) const {
    const int chosen = choose_distinct(at, plan.core(), random);
    return accepted(at.draft(chosen), chosen);
  }
};

template <class Of>
class Ladders : public testing::Test {};
using BothLadders = testing::Types<OfIidDrafts, OfDistinctDrafts>;
TYPED_TEST_SUITE(Ladders, BothLadders);

TYPED_TEST(Ladders, DistributionAndAcceptanceAreTheReferenceOnes) {
  using V = typename TypeParam::Verifier;
  std::ifstream file(std::string(DRAFTPROOF_SOURCE_DIR) + "/tests/golden/" + TypeParam::golden);
  const auto cases = nlohmann::json::parse(file).at("token");
  ASSERT_EQ(cases.size(), 40u);
  const auto fractions = [](const nlohmann::json& texts) {
    std::vector<Rational> values;
    for (const auto& text : texts) values.emplace_back(text.get<std::string>());
    return values;
  };
  for (const auto& entry : cases) {
    const Rows<Rational> rows(fractions(entry.at("p")), fractions(entry.at("q")));
    const int drafts = entry.at("K");
    const Rational acceptance(entry.at("acceptance").get<std::string>());
    EXPECT_EQ(planned_distribution<V>(rows, drafts), fractions(entry.at("selected_distribution"))) << entry.dump();
    EXPECT_EQ(enumerated<typename TypeParam::Drafter>(V{}, rows, drafts).draft_accepted, acceptance) << entry.dump();
    if constexpr (std::same_as<V, verifiers::Ladder>) {
      EXPECT_EQ(verifiers::Ladder::Core<Rows<Rational>>(rows, drafts).plan.acceptance, acceptance) << entry.dump();
    }
  }
}

TYPED_TEST(Ladders, AnyBucketsAreLosslessAndNeverAboveTheOptimum) {
  using V = typename TypeParam::Verifier;
  using Drafter = typename TypeParam::Drafter;
  int coarse = 0;
  for (int n = 0; n < 150; ++n) {
    const Instance instance = generate_instance(31, n, 3, false);
    InstanceRng dice(32, static_cast<std::uint64_t>(n));
    Bucketed distributions{instance.rows(), {}};
    for (int x = 0; x < instance.vocabulary(); ++x)
      distributions.bucket.push_back(dice.between(0, instance.vocabulary() - 1));
    const auto distribution = enumerated<Drafter>(V{}, distributions, instance.drafts);
    EXPECT_EQ(distribution.output, normalised(instance.target)) << instance.text();
    EXPECT_EQ(distribution.mass, 1);
    if constexpr (std::same_as<V, verifiers::LadderWor>) {
      EXPECT_EQ(enumerated<Drafter>(SelectsOnly{}, distributions, instance.drafts).output,
                planned_distribution<V>(distributions, instance.drafts))
          << instance.text();
    }
    const Rational fine = planned_overlap<V>(Rows<Rational>(distributions), instance.drafts);
    EXPECT_LE(distribution.draft_accepted, fine) << instance.text();
    coarse += distribution.draft_accepted < fine;
  }
  EXPECT_GT(coarse, 15);  // otherwise the test would cover no buckets with a loss
}

TYPED_TEST(Ladders, OneTokenABinReachesTheOptimumExactly) {
  using V = typename TypeParam::Verifier;
  const AnyVerifier& ladder = *registry().verifier(V::info.name);
  const AnyDrafter& drafter = *registry().drafter(TypeParam::Drafter::info.name);
  for (int n = 0; n < TypeParam::instances; ++n) {
    const Instance instance = generate_instance(41, n, 4, false);
    InstanceAnalysis at(ladder, drafter, instance);
    ASSERT_EQ(planned_overlap<V>(instance.rows(), instance.drafts), at.optimum()) << instance.text();
    if constexpr (std::same_as<V, verifiers::Ladder>) {
      ASSERT_EQ(verifiers::Ladder::Core<Rows<Rational>>(instance.rows(), instance.drafts).plan.acceptance,
                at.optimum());
    }
    if (n % TypeParam::enumerated_every == 0) {
      ASSERT_EQ(at.distribution().draft_emitted, at.optimum()) << instance.text();
    }
  }
}

// Captured rows have narrow bins among wide bins: tokens of 1e-12 beside tokens of 0.1. Slopes and kinks of F are
// computed without cancellation, so each of K chords (the differences of F that make up a slope) has a relative error
// of a few 2^-53, in addition to V truncations of 2^-60; integrals of the race have a relative error of 1e-14 and V
// roundings.
TYPED_TEST(Ladders, CapturedRowsReachTheOptimumAndBucketsNearlyDo) {
  using V = typename TypeParam::Verifier;
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
        const double optimum = TypeParam::optimum(table, drafts);
        EXPECT_NEAR(planned_overlap<V>(table, drafts), optimum, 1e-12)
            << file << " position " << i << ", K = " << drafts;
        const std::vector<float> p(pair.target.begin(), pair.target.end()),
            q(pair.proposals[0].begin(), pair.proposals[0].end());
        lost += optimum - planned_overlap<V>(FreshRows<float>(p, std::span<const float>(q)), drafts);
      }
      EXPECT_LE(lost / positions, 5e-4) << file << ", K = " << drafts;
    }
  }
}

// Sums over tokens are integers, and every other sum is added in a fixed order, so plans have the same bits at every
// register width. The same holds for F of drafts without replacement, both rough and refined at all breaks.
TYPED_TEST(Ladders, PlansHaveTheSameBitsAtEveryWidth) {
  using V = typename TypeParam::Verifier;
  registry();
  const Source source = Source::open(DRAFTPROOF_SOURCE_DIR "/data/stories512_positions.npz");
  for (const RowPair& pair :
       {source.pair(0), parse_family("gaussian_logits:vocabulary=9001,sigma=2,noise=1").pair(3, 0)})
    for (const int drafts : {2, 3, 4, 8, 12}) {
      const std::vector<float> p(pair.target.begin(), pair.target.end()),
          q(pair.proposals[0].begin(), pair.proposals[0].end());
      const FreshRows<float> rows(p, std::span<const float>(q));
      const auto bits = [&](simd::Width width) {
        const simd::Using use(width);
        const auto plan = V{}.prepare(rows, drafts);
        std::vector<double> all = plan.core().plan.level;
        all.insert(all.end(), plan.core().plan.slope.begin(), plan.core().plan.slope.end());
        if constexpr (std::same_as<V, verifiers::LadderWor>) {
          const auto bins = rows.bins();
          std::vector<int> every(static_cast<std::size_t>(bins.size()) + 1);
          std::iota(every.begin(), every.end(), 0);
          const WorCoverage<double> rough(rows, bins, drafts), fine = rough.rough() ? rough.refined(every) : rough;
          for (int i = 0; i < bins.size(); ++i) all.insert(all.end(), {rough.covered(i), fine.chord(i, i + 1)});
        }
        return all;
      };
      const std::vector<double> scalar = bits(simd::Width::scalar);
      for (const simd::Width width : simd::widths_here()) {
        EXPECT_EQ(bits(width), scalar) << simd::name_of(width) << ", K = " << drafts;
      }
    }
}

TYPED_TEST(Ladders, BucketsOfSeveralTokensAreLossless) {
  // Several tokens' ratios share a bucket, and the rows have much, little or no surplus.
  std::mt19937 words(3);
  int whole = 0;
  for (int round = 0; round < 120; ++round) {
    std::vector<double> p, q;
    const double steps[] = {0.3, 1.02, 2.5};
    for (int x = 0; x < 7; ++x) {
      q.push_back(1 + static_cast<double>(words() % 9));
      const double near = 1 + static_cast<double>(words() % 128) / 4096;
      p.push_back(q.back() * near * std::pow(steps[round % 3], static_cast<double>(words() % 3)));
      if (words() % 12 == 0) (words() % 2 ? p : q).back() = 0;
    }
    p = examples::normalised(p);
    q = examples::normalised(q);
    const FreshRows<double> rows(p, std::span<const double>(q));
    const int drafts = 1 + round % 3;
    const auto distribution =
        enumerated<typename TypeParam::Drafter>(typename TypeParam::Verifier{}, rows, drafts).output;
    // There are 7^3 tuples with a few branches each, and a branch is a product of ten factors with errors of 2^-52 or
    // of truncations of 2^-60.
    for (std::size_t x = 0; x < p.size(); ++x) ASSERT_NEAR(distribution[x], p[x], 1e-12) << "round " << round;
    whole += rows.bins().size() < 6;
  }
  EXPECT_GT(whole, 40);  // otherwise no bucket has several tokens
}

// Tests of the ladder for i.i.d. drafts in double, and of the loss by its buckets.

using verifiers::Ladder;

// If the optimum is 1, p_I is p and a rejection would have an empty residual. In double, p_I may differ from p by a
// rounding, and the plan's acceptance from 1.
TEST(Ladder, RoundingReachesNoEmptyResidual) {
  const auto explore = [](const Instance& instance) {
    const auto p = normalised(instance.target), q = normalised(instance.proposals.front());
    const auto p_double = exact::as_doubles(p), q_double = exact::as_doubles(q);
    const Rows<double> rows(p_double, q_double);
    const auto decider = registry().verifier("ladder")->explore_on(rows, instance.drafts);
    const auto distribution = explore_distribution(*registry().drafter("iid"), *decider, rows, instance.drafts);
    // Each of at most 8^4 leaves has a dozen roundings.
    EXPECT_NEAR(distribution.draft_emitted, iid_optimum(RatioTable(p_double, q_double), instance.drafts).acceptance,
                1e-12)
        << instance.text();
  };
  explore(Instance::parse("p=(4 5)/9 q=(2 1)/3 K=2"));
  for (int n = 0; n < 2000; ++n) explore(generate_instance(77, n, 3, false));
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
    const FreshRows<double> rows(pair.target, std::span<const double>(pair.proposals[0]));
    const double ladder = planned_overlap<Ladder>(rows, 4);
    EXPECT_GT(optimum - rejection, 1e-3) << spec << ": no gap to close";
    EXPECT_GE((ladder - rejection) / (optimum - rejection), 0.99) << spec;
    EXPECT_LE(ladder, optimum + 1e-9) << spec;  // V truncations of 2^-60 and one rounding a bin
  }
}

struct Cost {
  double lost;
  std::size_t breaks;
};

/// Returns the loss of acceptance by buckets, and the number of breaks that the sweep moved.
Cost bucketed_cost(const RowPair& pair, int drafts) {
  const FreshRows<double> rows(pair.target, std::span<const double>(pair.proposals[0]));
  const double optimum = iid_optimum(RatioTable(pair.target, pair.proposals), drafts).acceptance;
  return {optimum - planned_overlap<Ladder>(rows, drafts),
          Ladder::Core<FreshRows<double>>(rows, drafts).plan.leaving.size()};
}

TEST(BucketedLadder, LosesLittleAndNeverAcceptsMoreThanTheOptimum) {
  registry();
  std::vector<std::pair<std::string, RowPair>> pairs;
  for (const char* spec : {"gaussian_logits:vocabulary=4096,sigma=2.5,noise=1",
                           "gaussian_logits:vocabulary=32000,sigma=2.5,noise=0.3", "zipf:vocabulary=32000"})
    pairs.emplace_back(spec, parse_family(spec).pair(7, 0));
  const Source source = Source::open(DRAFTPROOF_SOURCE_DIR "/data/stories512_positions.npz");
  for (std::size_t i = 0; i < source.positions(); i += 8)
    pairs.emplace_back("captured position " + std::to_string(i), source.pair(i));
  for (const int drafts : {2, 4, 8}) {
    double captured = 0, most = 0, breaks = 0;
    int count = 0;
    for (const auto& [name, pair] : pairs) {
      const Cost cost = bucketed_cost(pair, drafts);
      EXPECT_GE(cost.lost, -1e-9) << name;  // V truncations of 2^-60 and one rounding a bin
      // Ratios within w of each other exceed their mean by at most w / 4 on average, and a bucket is at most 1/64 of
      // its ratio wide.
      EXPECT_LE(cost.lost, 1.0 / 256) << name << ", K = " << drafts;
      if (name[0] == 'c') {
        captured += cost.lost;
        ++count;
      }
      most = std::max(most, cost.lost);
      breaks += static_cast<double>(cost.breaks);
    }
    std::cout << "K = " << drafts << ": captured pairs lose " << captured / count << " on average, the worst pair "
              << most << "; " << breaks / static_cast<double>(pairs.size()) << " breaks leave\n";
    // If there is surplus, G is chosen such that buckets lose no acceptance (serve_whole_buckets), so the mean loss is
    // only a twentieth of the bound 1/256.
    EXPECT_LE(captured / count, 2e-4) << "K = " << drafts;
  }
}

// Half the target is on a token whose proposal mass is less than a unit of 2^-60: the token is never drafted, and
// acceptance is as low as if its proposal mass were 0.
TEST(BucketedLadder, MassThatIsAsGoodAsUndraftableIsNotForgotten) {
  for (const int drafts : {2, 4}) {
    std::vector<double> p{0.5}, q{0x1p-70};
    for (int x = 0; x < 64; ++x) {
      p.push_back((1 + x % 7) / (2 * 253.0));
      q.push_back((1 + x % 5) / 190.0);
    }
    q[1] -= 0x1p-70;
    double rest = 0.5;
    for (std::size_t x = 1; x < p.size(); ++x) rest -= p[x];
    p[1] += rest;
    double left = 1;
    for (const double weight : q) left -= weight;
    q[1] += left;
    const FreshRows<double> rows(p, std::span<const double>(q));
    const double optimum = iid_optimum(RatioTable(p, std::vector{q}), drafts).acceptance;
    EXPECT_NEAR((Ladder::Core<FreshRows<double>>(rows, drafts).plan.acceptance), optimum, 1.0 / 256) << drafts;
    EXPECT_LE(bucketed_cost({.target = p, .proposals = {q}}, drafts).lost, 1.0 / 256) << drafts;
  }
}

TEST(BucketedLadder, StatesADistributionWhateverItAimedAt) {
  registry();
  for (const char* spec : {"gaussian_logits:vocabulary=4096,sigma=2.5,noise=1",
                           "gaussian_logits:vocabulary=4096,sigma=1,noise=0.02", "zipf:vocabulary=4096"})
    for (const int drafts : {1, 2, 4, 8, 16}) {
      const RowPair pair = parse_family(spec).pair(7, 0);
      const FreshRows<double> rows(pair.target, std::span<const double>(pair.proposals[0]));
      const Ladder::Core<FreshRows<double>> core(rows, drafts);
      double sum = 0;
      for (Token x = 0; x < rows.vocabulary(); ++x) sum += core.selected(rows, x);
      EXPECT_NEAR(sum, 1, 1e-11) << spec;  // 4096 tokens have errors of a few 2^-53 and a truncation each
      for (std::size_t i = 1; i < core.plan.slope.size(); ++i)
        EXPECT_LE(core.plan.slope[i], core.plan.slope[i - 1] * (1 + 1e-12)) << spec << ": not concave at " << i;
      for (const double level : core.plan.level) EXPECT_TRUE(level >= 0 && level <= 1);
    }
}

/// Bins for which a plan may use only few stretches.
struct FewStretches : BucketBins {
  static constexpr int most_stretches = 16;
  explicit FewStretches(const BucketBins& all) : BucketBins(all) {}
};

TEST(BucketedLadder, JoinsWhatItsMemoryHasNoRoomFor) {
  registry();
  const RowPair pair = parse_family("gaussian_logits:vocabulary=32000,sigma=2.5,noise=0.5").pair(7, 0);
  const FreshRows<double> rows(pair.target, std::span<const double>(pair.proposals[0]));
  const BucketBins bins = rows.bins();
  const FixedCoverage<double> coverage(8);
  const auto free = plan_ladder(rows, bins, coverage, true),
             held = plan_ladder(rows, FewStretches(bins), coverage, true);
  EXPECT_GT(free.leaving.size(), 64u);
  EXPECT_LT(held.leaving.size(), 16u);
  double served = 0, of_free = 0, of_held = 0;
  int slopes = 1;
  for (std::size_t i = 0; i < bins.ratios().size(); ++i) {
    const double q = bins.proposal_below(static_cast<int>(i) + 1) - bins.proposal_below(static_cast<int>(i));
    served += q * held.slope[i];
    of_free += q * std::min(free.slope[i], bins.ratios()[i]);
    of_held += q * std::min(held.slope[i], bins.ratios()[i]);
    slopes += i > 0 && held.slope[i] != held.slope[i - 1];
    EXPECT_LE(held.slope[i], held.slope[i == 0 ? 0 : i - 1] * (1 + 1e-12)) << "not concave at " << i;
  }
  EXPECT_NEAR(served, 1, 1e-11);  // tolerance for a thousand products and truncations
  EXPECT_LE(slopes, 16);
  EXPECT_LE(of_held, of_free + 1e-3);
  // Nearly all mass has ratios within five octaves, so a stretch spans a third of an octave, which is a quarter of
  // its ratio, and at most a quarter of this span is lost.
  EXPECT_GE(of_held, of_free - 1.0 / 16);
}

}  // namespace
}  // namespace draftproof
