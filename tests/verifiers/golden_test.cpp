// Compares every reference case in tests/golden whose scheme exists here, on Rows, RatioTable and FreshRows. Compares
// both acceptances and the output distribution.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <set>
#include <type_traits>

#include <gtest/gtest.h>

#include <draftproof/properties/proof/instance_analysis.hpp>
#include <draftproof/properties/subjects/erased.hpp>
#include <draftproof/tests/support/audited.hpp>
#include <draftproof/tests/support/golden.hpp>
#include <draftproof/verifiers/canonical_two_step_independent.hpp>
#include <draftproof/verifiers/global_resolution.hpp>
#include <draftproof/verifiers/greedy_drafts.hpp>
#include <draftproof/verifiers/k_seq.hpp>
#include <draftproof/verifiers/lossy/cactus.hpp>
#include <draftproof/verifiers/lossy/lenience.hpp>
#include <draftproof/verifiers/lossy/typical_acceptance.hpp>
#include <draftproof/verifiers/lossy/typical_best.hpp>
#include <draftproof/verifiers/lossy/typical_sample.hpp>
#include <draftproof/verifiers/mutants/accept_test.hpp>
#include <draftproof/verifiers/mutants/draft_distribution.hpp>
#include <draftproof/verifiers/mutants/draft_order.hpp>
#include <draftproof/verifiers/mutants/residual.hpp>
#include <draftproof/verifiers/mutants/several_drafts.hpp>
#include <draftproof/verifiers/naive_tree.hpp>
#include <draftproof/verifiers/optimal_transport_independent.hpp>
#include <draftproof/verifiers/optimal_transport_tail_draw.hpp>
#include <draftproof/verifiers/optimal_transport_wor.hpp>
#include <draftproof/verifiers/optimal_transport_wor_uniform.hpp>
#include <draftproof/verifiers/recursive_rejection.hpp>
#include <draftproof/verifiers/recursive_rejection_distinct.hpp>
#include <draftproof/verifiers/recursive_rejection_independent.hpp>
#include <draftproof/verifiers/recursive_rejection_random_order.hpp>
#include <draftproof/verifiers/recursive_rejection_wor.hpp>
#include <draftproof/verifiers/sample_and_match.hpp>
#include <draftproof/verifiers/single_draft.hpp>
#include <draftproof/verifiers/spec_hub.hpp>
#include <draftproof/verifiers/tail_draw.hpp>
#include <draftproof/verifiers/tournament.hpp>
#include <draftproof/verifiers/truncated_alphabet.hpp>
#include <draftproof/verifiers/truncated_lp.hpp>

namespace draftproof {
namespace {

/// The file's values have an error of 1e-15, and its README states a tolerance of a few 1e-12. Here there are at most 4
/// stages, each with a few roundings of 2^-53 relative to terms of at most 1, divided at worst by the smallest unseen
/// mass and the smallest residual mass in the cases, about 1/300 each: 30 * 2^-53 * 300 = 1e-12.
constexpr double reference_tolerance = 1e-12;

/// FreshRows truncates each term of a sum at 2^-60 (V <= 6: 6 * 2^-60 = 5e-18) and RatioTable each entry of a row at
/// 2^-62, both far below the roundings counted above.
constexpr double integer_tolerance = reference_tolerance;

template <class V>
std::shared_ptr<const AnyVerifier> with(V verifier = {}) {
  using Explored = std::conditional_t<V::info.is_mutant(), Audited<V>, V>;
  return std::make_shared<VerifierOf<Explored>>(V::info.derived_from.empty() ? Kind::verifier : Kind::mutant,
                                                Explored(std::move(verifier)));
}

/// Returns the verifier of a scheme of the file with K drafts, or null if this repository does not have the scheme.
std::shared_ptr<const AnyVerifier> verifier(std::string_view scheme, int drafts) {
  using namespace verifiers;
  using namespace mutants;
  using namespace verifiers::lossy;
  static const std::map<std::string_view, std::string_view> registered{{"naive", "sample_and_match"},
                                                                       {"naive_tree", "naive_tree"},
                                                                       {"rrs", "recursive_rejection"},
                                                                       {"rrs_wor", "recursive_rejection_wor"},
                                                                       {"rrs_dedup", "recursive_rejection_distinct"},
                                                                       {"kseq", "k_seq"},
                                                                       {"greedy_verify", "greedy_drafts"},
                                                                       {"spechub", "spec_hub"},
                                                                       {"tail_draw_verify", "tail_draw"}};
  static const std::map<std::string_view, std::shared_ptr<const AnyVerifier>> made{
      {"ctl_fallback_p", with<ResampleFromTarget>()},
      {"ctl_wor_drafts_iid_verifier", with<WorVerifiedAsIid>()},
      {"ctl_typical_eps.3_del.6", with(TypicalAcceptance{.epsilon = 0.3, .delta = 0.6})},
      {"ctl_typical_eps.09_del.3", with(TypicalAcceptance{.epsilon = 0.09, .delta = 0.3})},
      {"ctl_typical_best_eps.3_del.09", with(TypicalBest{.epsilon = 0.3, .delta = 0.09})},
      {"ctl_typical_sample_eps.3_del.6", with(TypicalSample{.epsilon = 0.3, .delta = 0.6})},
      {"ctl_cactus_.1", with(Cactus{.divergence = 0.1})},
      {"ctl_lenience_.5", with(Lenience{.lenience = 0.5})},
      {"ctl_argmax_match", with<ArgmaxMatch>()},
      {"ctl_no_residual_update", with<NoResidualUpdate>()},
      {"ctl_iid_resorted_kseq", with<ResortedKSeq>()},
      {"ctl_iid_resorted_rrs", with<ResortedDrafts>()},
      {"ctl_wor_resorted_rrs_wor", with<ResortedWor>()},
      {"ctl_topk_drafts_wor_verifier", with<FixedVerifiedAsSampled>()}};
  if (scheme == "kseq_rho=K") return with(KSeq{.factor = static_cast<double>(drafts)});
  if (scheme.starts_with("rrs_order_")) return with<RecursiveRejectionIndependent>();
  if (const auto found = made.find(scheme); found != made.end()) return found->second;
  const auto name = registered.find(scheme);
  if (name == registered.end()) return nullptr;
  return {std::shared_ptr<void>{}, registry().verifier(name->second)};
}

/// Returns the largest absolute difference from the values in the file: two acceptance rates (draft_accepted and
/// draft_emitted), the output distribution, and its total variation distance to p.
template <class L>
double deviation(const golden::Case& c, const AnyVerifier& scheme, const L& distributions) {
  const auto decider = scheme.explore_on(distributions, c.drafts);
  const auto distribution =
      explore_distribution(*golden::drafter(c.draft_sampling), *decider, distributions, c.drafts);
  EXPECT_TRUE(distribution.complete) << c.id;
  double largest = std::max(std::abs(distribution.draft_accepted - c.draft_accepted),
                            std::abs(distribution.draft_emitted - c.draft_emitted));
  double distance = 0;
  for (std::size_t x = 0; x < c.p.size(); ++x) {
    largest = std::max(largest, std::abs(distribution.output[x] - c.output[x]));
    distance += std::abs(distribution.output[x] - c.p[x]) / 2;
  }
  return std::max(largest, std::abs(distance - c.distance));
}

/// Compares a scheme with `c` on all three forms of rows and returns the largest deviation.
double expect_golden(const golden::Case& c, const AnyVerifier& scheme) {
  const double plain = deviation(c, scheme, Rows<double>(c.p, c.q));
  const double table = deviation(c, scheme, RatioTable(c.p, c.q));
  const double fresh =
      deviation(c, scheme, FreshRows<double>(c.p, std::vector<std::span<const double>>(c.q.begin(), c.q.end())));
  EXPECT_LE(plain, reference_tolerance) << c.id << " on Rows";
  EXPECT_LE(table, integer_tolerance) << c.id << " on RatioTable";
  EXPECT_LE(fresh, integer_tolerance) << c.id << " on FreshRows";
  return std::max({plain, table, fresh});
}

TEST(Golden, EveryCaseOfEverySchemeWeHave) {
  int compared = 0;
  std::set<std::string> others;  ///< schemes that other tests compare
  double largest = 0;
  for (const golden::Case& c : golden::cases()) {
    const auto scheme = verifier(c.scheme, c.drafts);
    if (!scheme || !golden::drafter(c.draft_sampling)) {
      others.insert(c.scheme);
      continue;
    }
    ASSERT_TRUE(scheme->takes(c.drafts)) << c.id;
    largest = std::max(largest, expect_golden(c, *scheme));
    ++compared;
  }
  RecordProperty("largest_deviation", std::to_string(largest));
  std::cout << "largest deviation " << largest << '\n';
  EXPECT_EQ(others, (std::set<std::string>{"gls", "gumbel_topk", "ot_lp", "two_step_canonical"}));
  EXPECT_EQ(compared, 986) << "the number of cases in the file: none may be skipped";
}

TEST(Golden, OrdersOfDifferentProposals) {
  // A case "rrs_order_201" lists its proposals in the order in which their drafts are tested. Here proposals keep
  // their natural order, and the verifier gets the order of tests. A random order has the mean acceptance of all
  // orders, and the file has a case for each order.
  struct Mean {
    golden::Case natural;
    double draft_accepted = 0;
    int orders = 0;
  };
  std::map<std::string, Mean> means;
  for (const golden::Case& c : golden::cases()) {
    constexpr std::string_view prefix = "rrs_order_";
    if (!c.scheme.starts_with(prefix)) continue;
    verifiers::RecursiveRejectionIndependent scheme;
    golden::Case natural = c;
    for (std::size_t i = 0; i < c.q.size(); ++i) {
      const int row = c.scheme[prefix.size() + i] - '0';
      scheme.order.push_back(row);
      natural.q[static_cast<std::size_t>(row)] = c.q[i];
    }
    expect_golden(natural, *with(scheme));
    Mean& mean = means.try_emplace(c.id.substr(0, c.id.find('/')), Mean{natural}).first->second;
    EXPECT_EQ(mean.natural.q, natural.q) << c.id;
    mean.draft_accepted += c.draft_accepted;
    ++mean.orders;
  }
  ASSERT_EQ(means.size(), 3u);
  for (auto& [instance, mean] : means) {
    EXPECT_EQ(mean.orders, mean.natural.drafts == 2 ? 2 : 6) << instance;
    mean.natural.id = instance + ", random order";
    mean.natural.draft_accepted = mean.natural.draft_emitted = mean.draft_accepted / mean.orders;
    expect_golden(mean.natural, *with<verifiers::RecursiveRejectionRandomOrder>());
  }
}

TEST(Golden, SingleDraftIsRecursiveRejectionOfOneDraft) {
  const auto single = with<verifiers::SingleDraft>();
  int compared = 0;
  for (const golden::Case& c : golden::cases())
    if (c.scheme == "rrs" && c.drafts == 1) {
      expect_golden(c, *single);
      ++compared;
    }
  EXPECT_EQ(compared, 23);
}

/// A verifier with a plan, and the scheme and draft sampling of the reference cases that it must reproduce.
struct Plan {
  std::string_view scheme, draft_sampling;
  std::shared_ptr<const AnyVerifier> verifier;
  int cases;
  bool on_table = false, on_fresh = false;  ///< whether also compared on RatioTable, on FreshRows (output only)
  /// The default also covers flows: a flow is short of the optimum by less than 2^-52 for each of at most 41 sets and 6
  /// tokens, 1e-14; the distribution of the sets and its enumeration add a few roundings of 2^-53 for each leaf.
  double tolerance = reference_tolerance;
};

TEST(Golden, PlansReachTheOptimumOfTheReference) {
  using namespace verifiers;
  const auto resolution = with(GlobalResolution{.tolerance = 1e-8});
  for (const Plan& plan : {Plan{"ot_lp", "iid", with<OptimalTransport>(), 69},
                           {"ot_lp", "indep", with<OptimalTransportIndependent>(), 3},
                           {"ot_lp", "rheo_m1", with<OptimalTransportTailDraw>(), 18},
                           {"ot_lp", "wor_stop", with<OptimalTransportWor>(), 46},
                           {"ot_lp", "wor_uniform", with<OptimalTransportWorUniform>(), 41},
                           {"two_step_canonical", "iid", with<CanonicalTwoStep>(), 69},
                           {"two_step_canonical", "indep", with<CanonicalTwoStepIndependent>(), 3},
                           {"ot_lp", "iid", with(TruncatedLp{.inside = 2}), 69, true, true},
                           {"ot_lp", "indep", with<TruncatedAlphabet>(), 3, true},
                           {"ot_lp", "iid", resolution, 69, false, false, 1e-7}}) {
    int compared = 0;
    for (const golden::Case& c : golden::cases()) {
      if (c.scheme != plan.scheme || c.draft_sampling != plan.draft_sampling) continue;
      const std::string where = c.id + ", " + std::string(plan.verifier->info().name);
      EXPECT_LE(deviation(c, *plan.verifier, Rows<double>(c.p, c.q)), plan.tolerance) << where;
      if (plan.on_table) {
        EXPECT_LE(deviation(c, *plan.verifier, RatioTable(c.p, c.q)), plan.tolerance) << where << " on RatioTable";
      }
      if (plan.on_fresh) {
        const FreshRows<double> fresh(c.p, std::span<const double>(c.q[0]));
        const auto distribution = explore_distribution(*golden::drafter(c.draft_sampling),
                                                       *plan.verifier->explore_on(fresh, c.drafts), fresh, c.drafts);
        for (std::size_t x = 0; x < c.p.size(); ++x)
          EXPECT_NEAR(distribution.output[x], c.p[x], plan.tolerance) << where;
      }
      ++compared;
    }
    EXPECT_EQ(compared, plan.cases) << plan.verifier->info().name;
  }
}

// With two drafts a tournament has one round, which is optimal.
TEST(Golden, ATournamentIsAtMostOptimal) {
  const auto tournament = with<verifiers::Tournament>();
  for (const golden::Case& c : golden::cases()) {
    if (c.scheme != "ot_lp" || c.draft_sampling != "indep") continue;
    const Rows<double> rows(c.p, c.q);
    const auto distribution =
        explore_distribution(*golden::drafter("indep"), *tournament->explore_on(rows, c.drafts), rows, c.drafts);
    EXPECT_LE(distribution.draft_accepted, c.optimum + reference_tolerance) << c.id;
    EXPECT_GE(distribution.draft_accepted, c.drafts == 2 ? c.optimum - reference_tolerance : 0) << c.id;
    for (std::size_t x = 0; x < c.p.size(); ++x)
      EXPECT_NEAR(distribution.output[x], c.p[x], reference_tolerance) << c.id;
  }
}

}  // namespace
}  // namespace draftproof
