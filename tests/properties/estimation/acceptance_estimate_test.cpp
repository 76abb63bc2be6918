// Tests of estimated acceptance: given a tuple it equals an enumeration, at V = 32,000 it is within 1e-4 of the closed
// forms, and it does not depend on the number of threads.
#include <cmath>

#include <gtest/gtest.h>

#include <draftproof/captures/source.hpp>
#include <draftproof/properties/estimation/acceptance_estimate.hpp>
#include <draftproof/properties/estimation/quasi_random_drafts.hpp>
#include <draftproof/properties/gate/sampled_position.hpp>
#include <draftproof/properties/proof/instance_analysis.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/simulation/joint_distribution.hpp>
#include <draftproof/properties/simulation/sampling_optimum.hpp>
#include <draftproof/tests/support/example_rows.hpp>

namespace draftproof {
namespace {

const RatioTable& standard_table() {
  static const RatioTable table = [] {
    registry();
    const RowPair pair = Source::open(standard_source(32'000, 1)).pair(0);
    return RatioTable(pair.target, pair.proposals);
  }();
  return table;
}

/// Returns a scheme's acceptance probability, computed from the closed form of its joint distribution.
double closed_acceptance(std::string_view verifier, const RatioTable& table, int drafts) {
  const JointRows rows = known_joint_distributions().of(verifier, "iid")->rows(table, drafts);
  double sum = 0;
  for (std::size_t k = 0; k + 1 < rows.size(); ++k)
    for (const double mass : rows[k]) sum += mass;
  return sum;
}

AcceptanceEstimate estimate_of(std::string_view verifier, std::string_view distribution, const RatioTable& table,
                               int drafts, const EstimateOptions& options) {
  return *estimate_acceptance(*registry().verifier(verifier), *registry().drafter(distribution), table, drafts,
                              options);
}

TEST(AcceptanceEstimate, IsWithinOneTenThousandthAtFullSize) {
  const RatioTable& table = standard_table();
  for (const char* name : {"recursive_rejection", "k_seq", "naive_tree", "sample_and_match", "ladder"}) {
    const auto estimate = estimate_of(name, "iid", table, 4, {.tuples = 1 << 16});
    ASSERT_LE(estimate.tuples, 1u << 16);
    double exact = 0;
    if (name == std::string_view("ladder"))
      exact = *optimum_of(*registry().drafter("iid"), table, 4);
    else
      exact = closed_acceptance(name, table, 4);
    EXPECT_NEAR(estimate.draft_accepted.mean, exact, 1e-4) << name;
    EXPECT_LT(estimate.draft_accepted.standard_error, 1e-4 / 2) << name;
    // In all five schemes an emitted token that is among the drafts is an accepted draft; in K-SEQ up to the rounding
    // of its factor.
    EXPECT_NEAR(estimate.draft_emitted.mean, estimate.draft_accepted.mean, 1e-9) << name;
    // The tolerance is ten standard errors: Student's t with 15 degrees of freedom exceeds 10 less often than once in
    // 1e7.
    EXPECT_LT(std::abs(estimate.draft_accepted.mean - exact), 10 * estimate.draft_accepted.standard_error + 1e-9)
        << name;
  }
}

TEST(AcceptanceEstimate, OneDraftIsTheOverlap) {
  const RatioTable& table = standard_table();
  const auto estimate = estimate_of("single_draft", "iid", table, 1, {.tuples = 1 << 14});
  // With one draft, the control variate equals the outcome, so the estimate has no error.
  EXPECT_NEAR(estimate.draft_accepted.mean, 1 - table.residual_mass(1), 1e-12);
  EXPECT_LT(estimate.draft_accepted.standard_error, 1e-12);
}

/// Compares every scheme on every draft sampling that it supports, at sizes that can be enumerated.
TEST(AcceptanceEstimate, AgreesWithWholeWalksOfEveryScheme) {
  const auto p = examples::random_row(11, 7, 1);
  std::vector<std::vector<double>> rows;
  for (unsigned k = 0; k < 3; ++k) rows.push_back(examples::random_row(20 + k, 7, 1));
  int compared = 0;
  for (const auto& verifier : registry().verifiers()) {
    if (!can_be_estimated(*verifier)) continue;
    for (const AnyDrafter* drafter : registry().drafters_of(verifier->info())) {
      if (drafter->info().shared_noise()) continue;
      const bool several = drafter->info().several_proposals;
      const RatioTable table(p, several ? std::span<const std::vector<double>>(rows) : std::span(rows).first(1));
      for (const int drafts : {1, 2, 3}) {
        if (!verifier->takes(drafts) || !drafter->defined(7, drafts, table.proposals())) continue;
        const auto decider = verifier->explore_on(table, drafts);
        const auto distribution = explore_distribution<RatioTable, double>(*drafter, *decider, table, drafts);
        const auto estimate =
            *estimate_acceptance(*verifier, *drafter, table, drafts, {.tuples = 1 << 12, .seed = 3});
        SCOPED_TRACE(std::string(verifier->info().name) + " on " + std::string(drafter->info().name) +
                     ", K = " + std::to_string(drafts));
        // There are some 100 estimates; Student's t with 15 degrees of freedom exceeds 10 less often than once in 1e7.
        // If an estimate has no spread, the roundings of sums of 4096 terms remain.
        EXPECT_NEAR(estimate.draft_accepted.mean, distribution.draft_accepted,
                    10 * estimate.draft_accepted.standard_error + 1e-12);
        EXPECT_NEAR(estimate.draft_emitted.mean, distribution.draft_emitted,
                    10 * estimate.draft_emitted.standard_error + 1e-12);
        EXPECT_LT(estimate.draft_accepted.standard_error, 0.01);
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 30);
}

TEST(AcceptanceEstimate, IsTheSameForAnyNumberOfThreads) {
  const RatioTable& table = standard_table();
  for (const char* name : {"recursive_rejection", "ladder"}) {
    EstimateOptions options{.tuples = 1 << 12, .seed = 9, .threads = 1};
    const auto one = estimate_of(name, "iid", table, 3, options);
    for (const int threads : {2, 3, 7}) {
      options.threads = threads;
      const auto many = estimate_of(name, "iid", table, 3, options);
      EXPECT_EQ(one.draft_accepted.mean, many.draft_accepted.mean);
      EXPECT_EQ(one.draft_accepted.standard_error, many.draft_accepted.standard_error);
      EXPECT_EQ(one.draft_emitted.mean, many.draft_emitted.mean);
    }
    options.seed = 10;
    EXPECT_NE(one.draft_accepted.mean, estimate_of(name, "iid", table, 3, options).draft_accepted.mean);
  }
}

TEST(AcceptanceEstimate, ErrorsAreAsLargeAsTheySay) {
  const auto p = examples::random_row(5, 300, 1), q = examples::random_row(6, 300, 1);
  const RatioTable table(p, q);
  const double exact = closed_acceptance("recursive_rejection", table, 3);
  for (const PointSet points : {PointSet::random, PointSet::stratified, PointSet::sobol}) {
    double squares = 0;
    constexpr int runs = 120;
    for (std::uint64_t seed = 0; seed < runs; ++seed) {
      const auto flag = estimate_of("recursive_rejection", "iid", table, 3,
                                    {.tuples = 1 << 10, .seed = seed, .threads = 1, .points = points})
                            .draft_accepted;
      squares += std::pow((flag.mean - exact) / flag.standard_error, 2);
    }
    // Squares of t_15 have mean 15 / 13 and variance 2 15^2 14 / (13^2 11) = 3.39. The tolerance is five standard
    // deviations of their mean.
    EXPECT_NEAR(squares / runs, 15.0 / 13, 5 * std::sqrt(3.39 / runs));
  }
}

TEST(AcceptanceEstimate, StopsAndRefuses) {
  const RatioTable& table = standard_table();
  const std::atomic<bool> stop = true;
  EXPECT_FALSE(estimate_acceptance(*registry().verifier("k_seq"), *registry().drafter("iid"), table, 2,
                                   {.tuples = 1 << 12, .stop = &stop}));
  EXPECT_THROW(estimate_of("gls", "gumbel_iid", table, 2, {}), std::invalid_argument);
}

TEST(RatioQuantile, FollowsTheRatioAndDrawsTheDistribution) {
  const std::vector<double> p{.1, .2, .3, .25, .15, 0, 0}, q{.25, .125, .125, 0, .25, .25, 0};
  const RatioTable table(p, q);
  const RatioQuantile quantile(table, 0);
  constexpr std::uint64_t points = 1 << 10;
  std::vector<double> counts(p.size());
  double last = INFINITY;
  for (std::uint64_t i = 0; i < points; ++i) {
    const Token x = quantile.draw(i << 54);
    ASSERT_GT(table.proposal(x), 0);
    EXPECT_LE(table.target(x) / table.proposal(x), last);
    last = table.target(x) / table.proposal(x);
    counts[static_cast<std::size_t>(x)] += 1.0 / points;
  }
  // All probabilities are multiples of 1/8, so the evenly spaced points give them exactly.
  for (std::size_t x = 0; x < q.size(); ++x) EXPECT_EQ(counts[x], q[x]);
  // The largest 64-bit number draws the last token, with p / q = 0.
  EXPECT_EQ(quantile.draw(~std::uint64_t{0}), 5);
}

TEST(RatioQuantile, LeavesSeenTokensOut) {
  const std::vector<double> p{.1, .2, .3, .25, .15}, q{.25, .125, .125, .25, .25};
  const RatioTable table(p, q);
  const RatioQuantile quantile(table, 0);
  const Token seen[] = {3, 0, 2, 4, 1};
  for (int n = 0; n < 5; ++n) {
    // The remaining mass is 8, 6, 4, 3 or 1 eighths. These numbers divide the number of points, 24 * 64, so that each
    // token gets a whole number of points.
    std::vector<double> counts(p.size());
    double left = 1;
    for (int i = 0; i < n; ++i) left -= q[static_cast<std::size_t>(seen[i])];
    constexpr std::uint64_t points = 24 * 64;
    for (std::uint64_t i = 0; i < points; ++i)
      counts[static_cast<std::size_t>(quantile.draw_without(seen, n, ~std::uint64_t{0} / points * i + points))] +=
          1.0 / points;
    for (std::size_t x = 0; x < q.size(); ++x)
      EXPECT_NEAR(counts[x], among(static_cast<Token>(x), seen, n) ? 0 : q[x] / left, 1e-12) << n << " " << x;
  }
  EXPECT_EQ(quantile.draw_without(seen, 5, 0), no_token);
}

/// Compares the stated means of controls with sums over all tuples, weighted by the probability of the tuples.
TEST(TupleControls, AreCentredAtTheirMeans) {
  std::vector<std::vector<double>> rows;
  for (unsigned k = 0; k < 3; ++k) rows.push_back(examples::random_row(30 + k, 6, 1));
  const auto p = examples::random_row(29, 6, 1);
  for (const char* distribution : {"iid", "independent", "without_replacement", "hub"}) {
    const AnyDrafter& drafter = *registry().drafter(distribution);
    const int drafts = distribution == std::string_view("hub") ? 2 : 3;
    const RatioTable table(
        p, drafter.info().several_proposals ? std::span<const std::vector<double>>(rows) : std::span(rows).first(1));
    const DraftPoints points(drafter, table, drafts);
    const TupleControls controls(points);
    EXPECT_EQ(controls.means().size(), static_cast<std::size_t>(points.plain_drafts()) * TupleControls::per_slot);
    std::vector<double> sums(controls.means().size());
    std::vector<Control> listed;
    Token tuple[max_drafts];
    Explorer<double> explorer;
    EXPECT_TRUE(explorer.explore(
        [&](Explorer<double>& random) {
          drafter.draw(table, drafts, random, tuple);
          return Verdict{};
        },
        [&](const Leaf<double>& leaf) {
          controls.list(tuple, listed);
          for (const auto& [index, value] : listed) sums[index] += leaf.probability * value;
        }));
    for (std::size_t i = 0; i < sums.size(); ++i)
      EXPECT_NEAR(sums[i], controls.means()[i], 1e-14) << distribution << " " << i;
  }
}

}  // namespace
}  // namespace draftproof
