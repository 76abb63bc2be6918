// Both ladders, for i.i.d. drafts and for drafts without replacement: reference values, the law of the selected draft, the
// optimum of the draft law, and buckets of any shape, all in fractions; on captured rows in double.
#include <algorithm>
#include <concepts>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <draftproof/captures/source.hpp>
#include <draftproof/optimum/iid_acceptance.hpp>
#include <draftproof/optimum/race_acceptance.hpp>
#include <draftproof/properties/prover/prover.hpp>
#include <draftproof/sim/distributions/streamed_rows.hpp>
#include <draftproof/sim/drafters/sampled.hpp>
#include <draftproof/tests/support/bucketed_rows.hpp>
#include <draftproof/tests/support/enumerated.hpp>
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

/// p_I by token, as the plan of V states it.
template <class V, class L>
std::vector<typename L::Scalar> planned_law(const L& laws, int drafts) {
  std::vector<typename L::Scalar> law;
  const auto add = [&](const auto& core) {
    for (Token x = 0; x < laws.vocabulary(); ++x) law.push_back(core.selected(laws, x));
  };
  if constexpr (std::same_as<V, verifiers::Ladder>)
    add(verifiers::Ladder::Core<L>(laws, drafts));
  else
    add(V{}.prepare(laws, drafts).core());
  return law;
}

/// sum min(p, p_I) of a plan.
template <class V, class L>
typename L::Scalar planned_overlap(const L& laws, int drafts) {
  const auto law = planned_law<V>(laws, drafts);
  typename L::Scalar sum{0};
  for (Token x = 0; x < laws.vocabulary(); ++x)
    sum += std::min<typename L::Scalar>(laws.target(x), law[static_cast<std::size_t>(x)]);
  return sum;
}

/// The selected draft: the decision without its accept test.
struct SelectsOnly {
  template <Laws L>
  auto prepare(const L& laws, int drafts) const {
    return verifiers::LadderWor{}.prepare(laws, drafts);
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

TYPED_TEST(Ladders, LawAndAcceptanceAreTheReferenceOnes) {
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
    EXPECT_EQ(planned_law<V>(rows, drafts), fractions(entry.at("selected_law"))) << entry.dump();
    EXPECT_EQ(enumerated<typename TypeParam::Drafter>(V{}, rows, drafts).flag, acceptance) << entry.dump();
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
    Bucketed laws{instance.rows(), {}};
    for (int x = 0; x < instance.vocabulary(); ++x) laws.bucket.push_back(dice.between(0, instance.vocabulary() - 1));
    const auto law = enumerated<Drafter>(V{}, laws, instance.drafts);
    EXPECT_EQ(law.output, normalised(instance.target)) << instance.text();
    EXPECT_EQ(law.mass, 1);
    if constexpr (std::same_as<V, verifiers::LadderWor>) {
      EXPECT_EQ(enumerated<Drafter>(SelectsOnly{}, laws, instance.drafts).output,
                planned_law<V>(laws, instance.drafts))
          << instance.text();
    }
    const Rational fine = planned_overlap<V>(Rows<Rational>(laws), instance.drafts);
    EXPECT_LE(law.flag, fine) << instance.text();
    coarse += law.flag < fine;
  }
  EXPECT_GT(coarse, 15);  // buckets without a loss would make the test vacuous
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
      ASSERT_EQ(at.law().membership, at.optimum()) << instance.text();
    }
  }
}

// Narrow bins among wide ones: tokens of 1e-12 beside tokens of 0.1. Slopes and kinks are formed without cancellation, so
// each of K chords has a relative error of a few 2^-53, in addition to V truncations of 2^-60; integrals of the race err by
// 1e-14 of themselves and round V times.
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

}  // namespace
}  // namespace draftproof
