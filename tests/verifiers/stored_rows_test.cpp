// Tests of decisions on rows stored in 16 bits, on fresh rows with different proposals, and with a RefusalPlan.
#include <cmath>
#include <iostream>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/sim/distributions/plain_rows.hpp>
#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/sim/distributions/streamed_rows.hpp>
#include <draftproof/sim/drafters/sampled.hpp>
#include <draftproof/sim/random/explorer.hpp>
#include <draftproof/sim/random/philox.hpp>
#include <draftproof/tests/support/enumerated.hpp>
#include <draftproof/tests/support/example_rows.hpp>
#include <draftproof/verifiers/k_seq.hpp>
#include <draftproof/verifiers/ladder.hpp>
#include <draftproof/verifiers/recursive_rejection.hpp>
#include <draftproof/verifiers/recursive_rejection_independent.hpp>
#include <draftproof/verifiers/recursive_rejection_random_order.hpp>
#include <draftproof/verifiers/recursive_rejection_wor.hpp>
#include <draftproof/verifiers/single_draft.hpp>

namespace draftproof {
namespace {

template <class Entry>
std::vector<Entry> in_format(const std::vector<double>& row) {
  std::vector<Entry> stored;
  for (const double entry : row) stored.push_back(static_cast<Entry>(entry));
  return stored;
}
template <class Entry>
std::vector<double> widened(const std::vector<Entry>& row) {
  std::vector<double> wide;
  for (const Entry entry : row) wide.push_back(static_cast<double>(entry));
  return wide;
}

template <class Entry>
struct StoredVerdicts : testing::Test {
  /// Expects equal drafts and equal verdicts, for the same random bits, on stored rows and on the same rows as floats.
  /// Each decision draws its drafts from its own rows.
  template <class V, class D>
  static void expect_equal_verdicts(int drafts) {
    int accepted_drafts = 0, corrected = 0;
    for (std::uint64_t pair = 0; pair < 24; ++pair) {
      const std::size_t size = pair % 4 == 0 ? 2100 : 3 + 17 * pair;
      const double sharpness = pair % 3 == 0 ? 1 : 5;
      const auto p = in_format<Entry>(examples::random_row(pair + 50, size, sharpness, 0.2));
      const auto q = in_format<Entry>(examples::random_row(pair + 51, size, sharpness, 0.2));
      std::vector<float> wide_p, wide_q;
      for (const Entry entry : p) wide_p.push_back(static_cast<float>(entry));
      for (const Entry entry : q) wide_q.push_back(static_cast<float>(entry));
      const FreshRows<Entry> stored(p, std::span<const Entry>(q));
      const FreshRows<float> floats(wide_p, std::span<const float>(wide_q));
      const V verifier{};
      const auto plan = prepare(verifier, stored, drafts);
      const auto float_plan = prepare(verifier, floats, drafts);
      for (std::uint64_t trial = 0; trial < 40; ++trial) {
        const auto decide = [&](const auto& rows, const auto& rows_plan) {
          Philox drafting(pair, trial, Philox::Role::draft), verifying(pair, trial, Philox::Role::verify);
          Token tokens[max_drafts] = {};
          const int count = D{}.draw(rows, drafts, drafting, tokens);
          return std::pair(std::vector(tokens, tokens + count),
                           verify(verifier, DraftedPosition(rows, tokens, count), rows_plan, verifying));
        };
        const auto [drawn, found] = decide(stored, plan);
        const auto [wanted_drafts, wanted] = decide(floats, float_plan);
        ASSERT_EQ(drawn, wanted_drafts) << "pair " << pair << " trial " << trial;
        ASSERT_EQ(found.token, wanted.token) << "pair " << pair << " trial " << trial;
        ASSERT_EQ(found.accepted, wanted.accepted) << "pair " << pair << " trial " << trial;
        (found.accepted >= 0 ? accepted_drafts : corrected) += 1;
      }
    }
    EXPECT_GT(accepted_drafts, 100);
    EXPECT_GT(corrected, 100);
  }
};
using StoredFormats = testing::Types<Bfloat16, Half>;
TYPED_TEST_SUITE(StoredVerdicts, StoredFormats);

TYPED_TEST(StoredVerdicts, AreThoseOfTheSameFloats) {
  using namespace verifiers;
  using drafters::Iid, drafters::WithoutReplacement;
  TestFixture::template expect_equal_verdicts<SingleDraft, Iid>(1);
  for (const int drafts : {2, 5}) {
    TestFixture::template expect_equal_verdicts<RecursiveRejection, Iid>(drafts);
    TestFixture::template expect_equal_verdicts<RecursiveRejectionWor, WithoutReplacement>(drafts);
    TestFixture::template expect_equal_verdicts<KSeq, Iid>(drafts);
    TestFixture::template expect_equal_verdicts<Ladder, Iid>(drafts);
  }
}

/// Returns the output distribution of the verifier V on `rows` with drafts of the drafter D.
template <class V, class D, class L>
std::vector<double> emitted_distribution(const L& rows, int drafts) {
  return enumerated<D>(V{}, rows, drafts).output;
}

double sum_of(const std::vector<double>& row) {
  double sum = 0;
  for (const double entry : row) sum += entry;
  return sum;
}

/// Returns the total variation between two rows, each divided by its sum.
double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double total = 0;
  for (std::size_t x = 0; x < a.size(); ++x) total += std::abs(a[x] / sum_of(a) - b[x] / sum_of(b)) / 2;
  return total;
}

/// Explored distributions are sums of a few hundred products of doubles; for five tokens and three drafts the error is
/// far below this bound.
constexpr double rounding = 1e-12;
/// The effect of residual terms in float (short_float.hpp): a refusal uses the masses before and after it, each with a
/// relative error of 2^-23, and the distribution of the drawn tokens has at most the same error as the last mass.
constexpr double rounding_of_terms(int drafts) { return rounding + 2 * drafts * 0x1p-23; }

/// Two rows p and q of five tokens in the format Entry, and the errors of their sums s_p and s_q.
template <class Entry>
struct StoredPair {
  explicit StoredPair(std::uint64_t seed)
      : stored_p{in_format<Entry>(examples::random_row(2 * seed + 1, 5, 1 + 3.0 * static_cast<double>(seed % 2)))},
        stored_q{in_format<Entry>(examples::random_row(2 * seed + 2, 5, 1 + 3.0 * static_cast<double>(seed % 2)))},
        p{widened(stored_p)},
        q{widened(stored_q)},
        apart{std::abs(sum_of(p) - sum_of(q)) / sum_of(q)},
        defect{std::abs(1 - sum_of(q)) / sum_of(q)} {}

  FreshRows<Entry> rows() const { return {std::span<const Entry>(stored_p), std::span<const Entry>(stored_q)}; }

  std::vector<Entry> stored_p, stored_q;
  std::vector<double> p, q;
  double apart, defect;  ///< |s_p - s_q| / s_q and |1 - s_q| / s_q
};

constexpr std::uint64_t pairs = 150;

TEST(StoredDistributions, OneDraftIsOffByTheDifferenceOfTheSums) {
  double largest = 0;
  for (std::uint64_t seed = 0; seed < pairs; ++seed) {
    const StoredPair<Bfloat16> pair(seed);
    std::vector<double> residual;
    for (std::size_t x = 0; x < pair.p.size(); ++x) residual.push_back(std::max(pair.p[x] - pair.q[x], 0.0));
    const double found =
        distance(emitted_distribution<verifiers::SingleDraft, drafters::Iid>(pair.rows(), 1), pair.p);
    const double exact = sum_of(residual) > 0 ? pair.apart * distance(pair.p, residual) : 0;
    EXPECT_NEAR(found, exact, rounding_of_terms(1)) << seed;
    largest = std::max(largest, found);
  }
  std::cout << "single_draft: at most " << largest << " from the normalised bf16 row\n";
  EXPECT_GT(largest, 1e-3) << "rows of bf16 do not serve the normalised row";
}

template <class V, class D>
void expect_bound(double amplified) {
  for (int drafts = 1; drafts <= 3; ++drafts) {
    double largest = 0, largest_normalised = 0;
    for (std::uint64_t seed = 0; seed < pairs; ++seed) {
      const StoredPair<Bfloat16> pair(seed);
      const double found = distance(emitted_distribution<V, D>(pair.rows(), drafts), pair.p);
      largest = std::max(largest, found);
      EXPECT_LE(found, pair.apart + amplified * (drafts - 1) * pair.defect + rounding_of_terms(drafts))
          << V::info.name << " K " << drafts << " pair " << seed;
      // If the same rows are normalised, only the error of rounding to float remains: 2^-24 in each sum, and 2^-24 in
      // the entries.
      NormalisedRows normalised(5);
      const FreshRows<float> rows =
          normalised.of(std::span<const Bfloat16>(pair.stored_p), std::span<const Bfloat16>(pair.stored_q));
      const double normalised_found = distance(emitted_distribution<V, D>(rows, drafts), pair.p);
      EXPECT_LE(normalised_found, 0x1p-24 + 2 * 0x1p-24 + amplified * (drafts - 1) * 0x1p-24 + rounding)
          << V::info.name << " K " << drafts << " pair " << seed;
      largest_normalised = std::max(largest_normalised, normalised_found);
    }
    std::cout << V::info.name << ", K = " << drafts << ": at most " << largest << " from the normalised bf16 row, "
              << largest_normalised << " when rows are normalised first\n";
  }
}

TEST(StoredDistributions, KeepTheirBounds) {
  using namespace verifiers;
  expect_bound<RecursiveRejection, drafters::Iid>(1);
  expect_bound<KSeq, drafters::Iid>(1);
  expect_bound<Ladder, drafters::Iid>(1);
  // The unseen mass 1 - q(X) is computed by a subtraction while it is at least 1/16. So an error of the sum, at most
  // 2^-8 in bf16, is amplified by at most the factor 1 / (1/16 - 2^-8).
  expect_bound<RecursiveRejectionWor, drafters::WithoutReplacement>(1 / (0x1p-4 - 0x1p-8));
}

TEST(StoredDistributions, WithoutReplacementNeedsTheWiderBound) {
  double largest = 0;
  for (std::uint64_t seed = 0; seed < pairs; ++seed) {
    const StoredPair<Bfloat16> pair(seed);
    const auto distribution =
        emitted_distribution<verifiers::RecursiveRejectionWor, drafters::WithoutReplacement>(pair.rows(), 2);
    largest = std::max(largest, distance(distribution, pair.p) - pair.apart - pair.defect);
  }
  EXPECT_GT(largest, 1e-3) << "little unseen mass makes much of a defect";
}

/// Returns weights in steps, so that many tokens tie; some weights are zero.
std::vector<double> stepped_row(std::uint64_t seed, std::size_t size) {
  std::vector<double> row(size);
  double total = 0;
  for (std::size_t x = 0; x < size; ++x) {
    const double u = examples::uniform(seed, x);
    total += row[x] = std::floor(u * u * u * 6) + (x == 0);
  }
  for (double& weight : row) weight /= total;
  return row;
}

TEST(FreshDecisions, DifferentProposalsAreRefusedAsByTheRowsAPlanKeeps) {
  constexpr int drafts = 6;  // more than the number of terms for which the loops of passes are unrolled
  const std::size_t size = 300;
  const auto p = stepped_row(7, size);
  std::vector<std::vector<double>> q;
  for (std::uint64_t k = 0; k < drafts; ++k) q.push_back(stepped_row(8 + k, size));
  const FreshRows<double> rows(std::span<const double>(p), {q.begin(), q.end()});
  const verifiers::RecursiveRejectionIndependent verifier{.order = {2, 0}};
  const int tested[drafts] = {2, 0, 1, 3, 4, 5};
  int refused = 0;
  for (std::uint64_t trial = 0; trial < 400; ++trial) {
    Philox drafter(3, trial, Philox::Role::draft), here(3, trial, Philox::Role::verify), there = here;
    Token tokens[drafts];
    for (int k = 0; k < drafts; ++k) tokens[k] = drafter.pick(rows.row(k));
    const Verdict found = verifier.verify(DraftedPosition(rows, tokens, drafts), here);
    // Computes the expected verdict with whole rows that are updated after each rejection.
    std::vector<double> left = p;
    double mass = 1;
    Verdict wanted;
    for (const int k : tested) {
      const auto at = static_cast<std::size_t>(tokens[k]);
      if (there.flip(left[at], mass * rows.proposal(tokens[k], k))) {
        wanted = accepted(tokens[k], k);
        break;
      }
      for (std::size_t x = 0; x < size; ++x)
        left[x] = std::max(left[x] - mass * q[static_cast<std::size_t>(k)][x], 0.0);
      mass = fixed_sum(static_cast<int>(size), [&left](Token x) { return left[static_cast<std::size_t>(x)]; });
    }
    if (wanted.token < 0)
      wanted = there.emit(
          FixedWeights(static_cast<int>(size), [&left](Token x) { return left[static_cast<std::size_t>(x)]; }));
    EXPECT_EQ(found.token, wanted.token);
    EXPECT_EQ(found.accepted, wanted.accepted);
    refused += wanted.accepted < 0;
  }
  EXPECT_GT(refused, 0);
}

/// Returns the number of trials that accept nothing; expects the same verdicts with and without `plan`.
int refused_trials(const RatioTable& table, const RefusalPlan<RatioTable>& plan, int drafts) {
  const verifiers::RecursiveRejectionRandomOrder scheme;
  int refused = 0;
  for (std::uint64_t trial = 0; trial < 4000; ++trial) {
    Token tuple[max_drafts];
    Philox drafting(21, trial, Philox::Role::draft), planned(21, trial, Philox::Role::verify), plain = planned;
    const int count = drafters::Independent{}.draw(table, drafts, drafting, tuple);
    const DraftedPosition<RatioTable> at(table, tuple, count);
    const Verdict with = scheme.verify(at, plan, planned), without = scheme.verify(at, plain);
    EXPECT_EQ(with.token, without.token) << "trial " << trial;
    EXPECT_EQ(with.accepted, without.accepted) << "trial " << trial;
    refused += without.accepted < 0;
  }
  return refused;
}

std::vector<double> sloped_row(std::uint64_t seed) { return examples::random_row(seed, 40, 4, 0.2); }

TEST(RefusalPlan, DecidesAsTheSumsOfTheTrialWould) {
  for (int drafts = 1; drafts <= 5; ++drafts) {
    std::vector<std::vector<double>> proposals;
    for (int k = 0; k < drafts; ++k) proposals.push_back(sloped_row(static_cast<std::uint64_t>(30 + k)));
    const RatioTable table(sloped_row(3), proposals);
    const RefusalPlan<RatioTable> plan(table, drafts);
    EXPECT_EQ(plan.covers(drafts), drafts <= RefusalPlan<RatioTable>::most_orders_of);
    EXPECT_GT(refused_trials(table, plan, drafts), 100) << drafts << " drafts";
  }
}

TEST(RefusalPlan, OneProposalHasOneOrderForAnyNumberOfDrafts) {
  const RatioTable table(sloped_row(4), sloped_row(5));
  for (const int drafts : {1, 2, 6, max_drafts}) {
    const RefusalPlan<RatioTable> plan(table, drafts);
    EXPECT_TRUE(plan.covers(drafts));
    const int refused = refused_trials(table, plan, drafts);
    EXPECT_GT(refused, drafts > 6 ? -1 : 20) << drafts << " drafts";
  }
}

TEST(RefusalPlan, FewerDraftsThanPlannedAreDecidedWithoutIt) {
  const RatioTable table(sloped_row(6), std::vector{sloped_row(7), sloped_row(8), sloped_row(9)});
  const RefusalPlan<RatioTable> plan(table, 3);
  EXPECT_FALSE(plan.covers(2));
  EXPECT_GT(refused_trials(table, plan, 2), 100);
}

TEST(RefusalPlan, EqualDistributionsLeaveNothingAfterTheFirstTest) {
  const std::vector<double> row = sloped_row(10);
  const RatioTable table(row, row);
  EXPECT_EQ(refused_trials(table, RefusalPlan<RatioTable>(table, 3), 3), 0);
}

}  // namespace
}  // namespace draftproof
