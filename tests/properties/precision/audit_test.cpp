// Tests of the precision audit: it gives distances that were computed by hand, correct verifiers are far below its
// limits, and it detects wrong sums.
#include <algorithm>
#include <cmath>
#include <optional>

#include <gtest/gtest.h>

#include <draftproof/properties/gate/gate.hpp>
#include <draftproof/properties/precision/audit.hpp>
#include <draftproof/properties/proof/instance_analysis.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/subjects/erased.hpp>
#include <draftproof/sim/numeric/sums.hpp>
#include <draftproof/verifiers/mutants/pick.hpp>

namespace draftproof {
namespace {

/// Single-draft sampling that rounds the acceptance probability p / q to float, so that the probability of a rejection
/// differs from the residual's mass.
struct RoundedQuotient {
  static constexpr Info info{.name = "rounded_quotient", .summary = "", .source = "", .most_drafts = 1};
  template <Position P, RandomSource R>
  Verdict verify(const P& at, R& random) const {
    const Token x = at.draft(0);
    const auto share = at.target(x) / at.proposal(x);
    if constexpr (std::floating_point<typename P::Scalar>) {
      if (random.flip(static_cast<float>(share), 1.0f)) return accepted(x, 0);
    } else {
      if (random.flip(share, at.one())) return accepted(x, 0);
    }
    return random.emit(at.residual(at.one()));
  }
};

/// A draw from p that rounds weights down to multiples of 2^-30, so that it drops smaller weights.
struct CoarseUnits {
  static constexpr Info info{.name = "coarse_units", .summary = "", .source = ""};
  template <Position P, RandomSource R>
  Verdict verify(const P& at, R& random) const {
    return random.emit(at.weights([&at](Token x) {
      if constexpr (std::floating_point<typename P::Scalar>)
        return std::floor(at.target(x) * 0x1p30) * 0x1p-30;
      else
        return at.target(x);
    }));
  }
};

template <class V>
const AnyVerifier& audited() {
  static const VerifierOf<V> verifier(Kind::mutant);
  return verifier;
}

const AnyDrafter& iid_drafts() { return *registry().drafter("iid"); }

const Finding* finding_named(const PrecisionAudit& audit, std::string_view check) {
  const auto found = std::find_if(audit.findings.begin(), audit.findings.end(),
                                  [check](const Finding& finding) { return finding.property == check; });
  return found == audit.findings.end() ? nullptr : &*found;
}

TEST(PrecisionAudit, DistancesByHand) {
  EXPECT_EQ(exact_target(std::vector{1.0, 0.0, 3.0}), (std::vector{0.25, 0.0, 0.75}));
  EXPECT_EQ(total_variation(std::vector{0.25, 0.75}, std::vector{0.5, 0.5}), 0.25);
  EXPECT_EQ((AuditedDistribution{{0.25, 0.75}}.distance(std::vector{0.5, 0.5})), 0.25);
  EXPECT_EQ((AuditedDistribution{{0.5, 0.25}}.distance(std::vector{0.5, 0.5})), 0.25) << "mass that no token gets";
}

TEST(PrecisionAudit, TargetOfManyEntriesKeepsItsDigits) {
  // The row has one large entry and 2^20 entries of 2^-54, which are below half an ulp of the large entry: a running
  // sum would stay at 1.
  std::vector<double> row((1 << 20) + 1, 0x1p-54);
  row[0] = 1;
  EXPECT_EQ(exact_target(row)[0], 1 / (1 + 0x1p-34));
}

TEST(PrecisionAudit, RunsOnEveryForm) {
  const RowPair rows = dense_rows(12, 1, 3);
  for (const Form form : all_forms) {
    const auto distribution =
        audit(*registry().verifier("recursive_rejection"), iid_drafts(), form, rows, 3, 1'000'000);
    ASSERT_TRUE(distribution && distribution->complete) << to_text(form);
    EXPECT_LE(distribution->distance(exact_target(rows.target)), small_limit) << to_text(form);
    EXPECT_GT(distribution->distance(dense_rows(12, 1, 4).target), 1e-2) << "another distribution is not this one";
  }
}

TEST(PrecisionAudit, StopsAtItsLeavesAndSaysSo) {
  const auto distribution =
      audit(*registry().verifier("single_draft"), iid_drafts(), Form::rows, dense_rows(12, 1, 3), 1, 5);
  ASSERT_TRUE(distribution);
  EXPECT_FALSE(distribution->complete);
  EXPECT_EQ(distribution->leaves, 5u);
}

TEST(PrecisionAudit, CorrectVerifiersHold) {
  for (const std::string_view name : {"single_draft", "recursive_rejection", "k_seq", "sample_and_match"}) {
    const PrecisionAudit audit = audit_precision(*registry().verifier(name), iid_drafts(), {});
    ASSERT_EQ(audit.findings.size(), 16u) << name;
    for (const Finding& finding : audit.findings)
      EXPECT_EQ(finding.status, Status::passed) << name << ", " << finding.property << ": " << finding.evidence;
    EXPECT_LT(audit.largest, large_limit);
    EXPECT_GT(audit.largest, 0) << "nothing is rounded at V = 262,144: was it enumerated?";
  }
}

TEST(PrecisionAudit, FloatSumsAreRightInFractionsAndFailInEveryForm) {
  const AnyVerifier& verifier = audited<mutants::FloatRunningSum>();
  const auto rows = Instance::parse("p=(5 1 0 1) q=(1 1 2 3) K=2").rows();
  const auto distribution = explore_distribution(iid_drafts(), *verifier.prove_on(rows, 2), rows, 2);
  for (Token x = 0; x < rows.vocabulary(); ++x)
    EXPECT_EQ(distribution.output[static_cast<std::size_t>(x)], rows.target(x)) << "token " << x;

  const PrecisionAudit audit = audit_precision(verifier, iid_drafts(), {});
  ASSERT_EQ(audit.findings.size(), 16u);
  for (const Finding& finding : audit.findings) {
    EXPECT_EQ(finding.status, Status::failed) << finding.property << ": " << finding.evidence;
    EXPECT_NE(finding.replay.find("draftproof check float_running_sum"), std::string::npos) << finding.replay;
  }
  EXPECT_GT(audit.largest, 1e-3) << "at V = 262,144";
}

TEST(PrecisionAudit, SeesOneRoundedQuotient) {
  const PrecisionAudit audit = audit_precision(audited<RoundedQuotient>(), iid_drafts(), {});
  for (const std::string_view check : {"double at V = 64", "tables at V = 64", "fresh rows over all V = 262144"}) {
    const Finding* finding = finding_named(audit, check);
    ASSERT_TRUE(finding) << check;
    EXPECT_EQ(finding->status, Status::failed) << check << ": " << finding->evidence;
  }
}

TEST(PrecisionAudit, SeesSumsInTooCoarseUnits) {
  const PrecisionAudit audit = audit_precision(audited<CoarseUnits>(), iid_drafts(), {});
  const Finding* finding = finding_named(audit, "tables over all V = 262144");
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->status, Status::failed) << finding->evidence;
}

/// Returns the total variation between the realised and the exact masses of a draw from (p - b q)+, which has total
/// mass F(b).
double draw_error(const auto& distributions, double b) {
  std::vector<double> served(static_cast<std::size_t>(distributions.vocabulary()));
  const auto add = [&served](Token x, double share) { served[static_cast<std::size_t>(x)] += share; };
  visit_realised(distributions.residual(b), add);
  NeumaierSum sum;
  for (Token x = 0; x < distributions.vocabulary(); ++x)
    sum.add(std::abs(served[static_cast<std::size_t>(x)] -
                     std::max(distributions.target(x) - b * distributions.proposal(x), 0.0)));
  return sum.value() / 2;
}

TEST(PrecisionAudit, DrawsUnderAProposalOverAllTokensStayBelowTheLimit) {
  const RowPair rows = dense_rows(262'144, 1, 1);
  const RatioTable table(rows.target, rows.proposals);
  const FreshRows<double> fresh(rows.target, rows.proposals[0]);
  for (const double b : {0.0, 0.5, 1.0, 2.5}) {
    EXPECT_LT(draw_error(table, b), large_limit / 2) << "V u / 6 is expected, b = " << b;
    EXPECT_LT(draw_error(fresh, b), 262'144 * 0x1p-60) << b;
    EXPECT_GT(draw_error(table, b), draw_error(fresh, b)) << "of bounds in double and of integers";
  }
}

TEST(PrecisionAudit, LossySchemesMakeNoClaim) {
  EXPECT_FALSE(has_precision(*registry().verifier("lenience")));
  EXPECT_TRUE(audit_precision(*registry().verifier("lenience"), iid_drafts(), {}).findings.empty());
}

TEST(PrecisionAudit, IsPartOfTheProofGate) {
  GateOptions options;
  options.profile.instances = 5;
  const GateResult result = run_gate({.verifier = registry().verifier("single_draft"), .tier = Tier::proof}, options);
  EXPECT_EQ(result.status, Status::passed);
  EXPECT_TRUE(std::any_of(result.findings.begin(), result.findings.end(), [](const Finding& finding) {
    return finding.property == "tables over all V = 262144" && finding.status == Status::passed;
  }));
}

TEST(PrecisionRows, AreDistributionsOverWhatTheySay) {
  const auto supported = [](const std::vector<double>& row) {
    return std::count_if(row.begin(), row.end(), [](double value) { return value > 0; });
  };
  for (const int proposals : {1, 3}) {
    const RowPair scattered = scattered_rows(5000, 4, proposals, 1), whole = whole_rows(5000, 64, proposals, 1);
    ASSERT_EQ(scattered.proposals.size(), static_cast<std::size_t>(proposals));
    EXPECT_EQ(supported(scattered.target), 4);
    EXPECT_EQ(supported(scattered.proposals.back()), 4);
    EXPECT_EQ(supported(whole.target), 5000);
    EXPECT_EQ(supported(whole.proposals.back()), 64);
  }
  for (const EdgeRows& edge : edge_rows(2)) {
    double p = 0, q = 0;
    for (std::size_t x = 0; x < edge.rows.target.size(); ++x) {
      p += edge.rows.target[x];
      q += edge.rows.proposals[1][x];
    }
    EXPECT_NEAR(p, 1, 0x1p-50) << edge.name;
    EXPECT_NEAR(q, 1, 0x1p-50) << edge.name;
  }
}

}  // namespace
}  // namespace draftproof
