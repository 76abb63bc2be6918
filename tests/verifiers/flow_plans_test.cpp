// Schemes whose plan is a maximum flow: they reach the optimum exactly in fractions and, up to rounding, in double.
#include <cmath>
#include <iostream>

#include <gtest/gtest.h>

#include <draftproof/optimum/iid_acceptance.hpp>
#include <draftproof/sim/drafters/fixed.hpp>
#include <draftproof/tests/support/golden.hpp>
#include <draftproof/tests/support/planned.hpp>
#include <draftproof/verifiers/canonical_two_step_independent.hpp>
#include <draftproof/verifiers/optimal_transport_independent.hpp>
#include <draftproof/verifiers/optimal_transport_tail_draw.hpp>
#include <draftproof/verifiers/optimal_transport_wor.hpp>
#include <draftproof/verifiers/optimal_transport_wor_uniform.hpp>

namespace draftproof {
namespace {

using planned::expect_lossless;

TEST(MaxFlow, OfANetworkWorkedByHand) {
  // Source 0, sets 1 = {3, 4} and 2 = {3}, tokens 3 and 4, sink 5, all of capacity 1: set 1 gets token 3 first and
  // must release it for set 2.
  MaxFlow<int> network(6);
  network.add_edge(0, 1, 1);
  network.add_edge(0, 2, 1);
  const int first = network.add_edge(1, 3, 1), second = network.add_edge(1, 4, 1), only = network.add_edge(2, 3, 1);
  network.add_edge(3, 5, 1);
  network.add_edge(4, 5, 1);
  network.run(0, 5);
  EXPECT_EQ(network.flow(first), 0);
  EXPECT_EQ(network.flow(second), 1);
  EXPECT_EQ(network.flow(only), 1);
}

TEST(MaxFlow, CapacitiesOfDoublesNeverGrow) {
  for (const double x : {0.0, 0x1p-60, 0.1, 1.0 / 3, 1 - 0x1p-53, 1.0}) {
    const double kept = from_capacity<double>(to_capacity(x));
    EXPECT_LE(kept, x);
    EXPECT_LT(x - kept, 0x1p-52);
  }
}

TEST(OptimalTransport, ReachesTheOptimumOfEveryDraftLaw) {
  expect_lossless(verifiers::OptimalTransport{}, "iid", true);
  expect_lossless(verifiers::OptimalTransportWor{}, "without_replacement", true);
  expect_lossless(verifiers::OptimalTransportWorUniform{}, "without_replacement_uniform", true);
  expect_lossless(verifiers::OptimalTransportIndependent{}, "independent", true);
  expect_lossless(verifiers::OptimalTransportTailDraw{}, "tail_draw", true);
}

// Beyond proofs: V = 80, K = 2 in double. The flow falls short of the scan's optimum by less than 2^-52 for each of
// 3,240 sets and 80 tokens, and never exceeds it by more than the rounding of the enumerated Q, 2^-52 per set at
// most.
TEST(OptimalTransport, AgreesWithTheRatioScanInDouble) {
  constexpr int vocabulary = 80;
  std::vector<double> p, q;
  double total_p = 0, total_q = 0;
  for (int x = 0; x < vocabulary; ++x) {
    total_p += p.emplace_back(1.0 / (x + 1));
    total_q += q.emplace_back(1.0 / ((x * 7) % vocabulary + 2));
  }
  for (int x = 0; x < vocabulary; ++x) {
    p[static_cast<std::size_t>(x)] /= total_p;
    q[static_cast<std::size_t>(x)] /= total_q;
  }
  const RatioTable table(p, q);
  const auto plan = verifiers::OptimalTransport{}.prepare(table, 2);
  EXPECT_EQ(plan.core->drafts.size(), 3240u);
  double served = 0;
  for (const double s : plan.core->served) served += s;
  const double optimum = iid_optimum(table, 2).acceptance;
  EXPECT_LT(optimum, 0.99);
  EXPECT_NEAR(served, optimum, 3320 * 0x1p-52);
}

// Laws with a closed form of the optimum need no flow; the flow gives the same optimum.
template <class Drafter>
struct Transport : verifiers::OptimalTransportOf<Drafter> {
  static constexpr Info info{
      .name = "transport", .summary = "for a test", .source = "none", .most_drafts = Drafter::info.most_drafts};
};
TEST(OptimalTransport, ReachesTheOptimumOfLawsWithAClosedForm) {
  expect_lossless(Transport<drafters::Greedy>{}, "greedy", true);
  expect_lossless(Transport<drafters::Hub>{}, "hub", true);
  expect_lossless(Transport<drafters::FixedTopK>{}, "fixed_top_k", true);
}

TEST(CanonicalTwoStep, ReachesTheOptimum) {
  expect_lossless(verifiers::CanonicalTwoStep{}, "iid", true);
  expect_lossless(verifiers::CanonicalTwoStepIndependent{}, "independent", true);
}

/// Two-step verification with arbitrary weights: member j of a set has mass in proportion to a number that depends on
/// the seed, the set and j only.
template <class Drafter>
struct RandomTwoStep : verifiers::CanonicalTwoStepOf<Drafter> {
  static constexpr Info info{.name = "random_two_step", .summary = "for a test", .source = "none"};
  std::uint64_t seed = 0;

  template <Laws L>
  verifiers::TwoStepPlan<L> prepare(const L& laws, int drafts) const {
    using Scalar = typename L::Scalar;
    TransportPlan<Scalar> plan{draft_sets<Drafter>(laws, drafts), {}, {}};
    plan.served.assign(static_cast<std::size_t>(laws.vocabulary()), Scalar{0});
    for (std::size_t i = 0; i < plan.drafts.size(); ++i) {
      InstanceRng dice(seed, i);
      auto& share = plan.share.emplace_back();
      Scalar left = plan.drafts.probability[i];
      for (const Token x : plan.drafts.sets[i]) {
        const bool last = x == plan.drafts.sets[i].back();
        share.push_back(last ? left : Scalar(left * Scalar(dice.between(0, 4)) / Scalar(4)));
        left -= share.back();
        plan.served[static_cast<std::size_t>(x)] += share.back();
      }
      share.push_back(left);
    }
    return {laws, std::move(plan)};
  }
};
TEST(CanonicalTwoStep, IsLosslessForAnyWeights) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    RandomTwoStep<drafters::Iid> iid;
    RandomTwoStep<drafters::Independent> independent;
    iid.seed = independent.seed = seed;
    expect_lossless(iid, "iid", false, 60);
    expect_lossless(independent, "independent", false, 60);
  }
}

/// A plan in double is short of the optimum by less than 2^-52 for each of at most 41 sets and 6 tokens, 1e-14; the
/// law of the sets and its enumeration add a few roundings of 2^-53 per leaf. The sum is well below the file's
/// tolerance.
constexpr double flow_tolerance = 1e-12;

template <class V>
double deviation(const golden::Case& c, std::string_view draft_law) {
  const Rows<double> rows(c.p, c.q);
  static const VerifierOf<V> scheme(Kind::verifier);
  const auto law = explore_law(*registry().drafter(draft_law), *scheme.explore_on(rows, c.drafts), rows, c.drafts);
  EXPECT_TRUE(law.complete) << c.id;
  double largest = std::max(std::abs(law.flag - c.flag), std::abs(law.membership - c.membership));
  for (std::size_t x = 0; x < c.p.size(); ++x) largest = std::max(largest, std::abs(law.output[x] - c.output[x]));
  return largest;
}

double deviation(const golden::Case& c) {
  using namespace verifiers;
  if (c.scheme == "two_step_canonical")
    return c.draft_law == "iid" ? deviation<CanonicalTwoStep>(c, "iid")
                                : deviation<CanonicalTwoStepIndependent>(c, "independent");
  if (c.draft_law == "iid") return deviation<OptimalTransport>(c, "iid");
  if (c.draft_law == "indep") return deviation<OptimalTransportIndependent>(c, "independent");
  if (c.draft_law == "wor_stop") return deviation<OptimalTransportWor>(c, "without_replacement");
  if (c.draft_law == "wor_uniform") return deviation<OptimalTransportWorUniform>(c, "without_replacement_uniform");
  if (c.draft_law == "rheo_m1") return deviation<OptimalTransportTailDraw>(c, "tail_draw");
  ADD_FAILURE() << c.id;
  return 0;
}

TEST(FlowPlans, EveryReferenceCase) {
  std::map<std::string, int> compared;
  double largest = 0;
  for (const golden::Case& c : golden::cases()) {
    if (c.scheme != "ot_lp" && c.scheme != "two_step_canonical") continue;
    const double found = deviation(c);
    EXPECT_LE(found, flow_tolerance) << c.id;
    largest = std::max(largest, found);
    ++compared[c.scheme + "/" + c.draft_law];
  }
  const std::map<std::string, int> expected{{"ot_lp/iid", 69},
                                            {"ot_lp/indep", 3},
                                            {"ot_lp/rheo_m1", 18},
                                            {"ot_lp/wor_stop", 46},
                                            {"ot_lp/wor_uniform", 41},
                                            {"two_step_canonical/iid", 69},
                                            {"two_step_canonical/indep", 3}};
  EXPECT_EQ(compared, expected);
  std::cout << "largest deviation " << largest << '\n';
}

}  // namespace
}  // namespace draftproof
