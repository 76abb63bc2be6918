// Every reference case whose scheme exists here: acceptance of both kinds and the output law, on three models of the
// laws.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <type_traits>

#include <gtest/gtest.h>

#include <draftproof/mutants/accept_test.hpp>
#include <draftproof/mutants/draft_distribution.hpp>
#include <draftproof/mutants/draft_order.hpp>
#include <draftproof/mutants/residual.hpp>
#include <draftproof/mutants/several_drafts.hpp>
#include <draftproof/properties/proof/output_law.hpp>
#include <draftproof/properties/subjects/erased.hpp>
#include <draftproof/tests/support/audited.hpp>
#include <draftproof/tests/support/golden.hpp>
#include <draftproof/verifiers/greedy_drafts.hpp>
#include <draftproof/verifiers/k_seq.hpp>
#include <draftproof/verifiers/lossy/cactus.hpp>
#include <draftproof/verifiers/lossy/lenience.hpp>
#include <draftproof/verifiers/lossy/typical_acceptance.hpp>
#include <draftproof/verifiers/lossy/typical_best.hpp>
#include <draftproof/verifiers/lossy/typical_sample.hpp>
#include <draftproof/verifiers/naive_tree.hpp>
#include <draftproof/verifiers/recursive_rejection.hpp>
#include <draftproof/verifiers/recursive_rejection_distinct.hpp>
#include <draftproof/verifiers/recursive_rejection_independent.hpp>
#include <draftproof/verifiers/recursive_rejection_random_order.hpp>
#include <draftproof/verifiers/recursive_rejection_wor.hpp>
#include <draftproof/verifiers/sample_and_match.hpp>
#include <draftproof/verifiers/single_draft.hpp>
#include <draftproof/verifiers/spec_hub.hpp>
#include <draftproof/verifiers/tail_draw.hpp>

namespace draftproof {
namespace {

/// The file's values are good to 1e-15, and its README states a tolerance of a few 1e-12. Here: at most 4 stages,
/// each a few roundings of 2^-53 relative to terms at most 1, divided at worst by the smallest unseen mass and the
/// smallest residual mass in the cases, about 1/300 each: 30 * 2^-53 * 300 = 1e-12.
constexpr double reference_tolerance = 1e-12;

/// FreshRows truncates each term of a sum at 2^-60 (V <= 6: 6 * 2^-60 = 5e-18) and RatioTable each entry of a row at
/// 2^-62, both far below the roundings counted above.
constexpr double integer_tolerance = reference_tolerance;

template <class V>
using As = VerifierOf<std::conditional_t<V::info.is_mutant(), Audited<V>, V>>;

std::shared_ptr<const AnyVerifier> registered(std::string_view name) {
  return {std::shared_ptr<void>{}, registry().verifier(name)};
}

/// The verifier of a scheme of the file with K drafts; null if this repository has none.
std::shared_ptr<const AnyVerifier> verifier(std::string_view scheme, int drafts) {
  using namespace verifiers;
  using namespace mutants;
  using namespace verifiers::lossy;
  constexpr auto ours = Kind::verifier, wrong = Kind::mutant;
  if (scheme == "naive") return registered("sample_and_match");
  if (scheme == "naive_tree") return registered("naive_tree");
  if (scheme == "rrs") return registered("recursive_rejection");
  if (scheme == "rrs_wor") return registered("recursive_rejection_wor");
  if (scheme == "kseq") return registered("k_seq");
  if (scheme == "kseq_rho=K") return std::make_shared<As<KSeq>>(ours, KSeq{.factor = static_cast<double>(drafts)});
  if (scheme == "ctl_fallback_p") return std::make_shared<As<ResampleFromTarget>>(wrong);
  if (scheme == "ctl_wor_drafts_iid_verifier") return std::make_shared<As<WorVerifiedAsIid>>(wrong);
  if (scheme == "ctl_typical_eps.3_del.6")
    return std::make_shared<As<TypicalAcceptance>>(wrong, TypicalAcceptance{.epsilon = 0.3, .delta = 0.6});
  if (scheme == "ctl_typical_eps.09_del.3")
    return std::make_shared<As<TypicalAcceptance>>(wrong, TypicalAcceptance{.epsilon = 0.09, .delta = 0.3});
  if (scheme == "ctl_typical_best_eps.3_del.09")
    return std::make_shared<As<TypicalBest>>(wrong, TypicalBest{.epsilon = 0.3, .delta = 0.09});
  if (scheme == "ctl_typical_sample_eps.3_del.6")
    return std::make_shared<As<TypicalSample>>(wrong, TypicalSample{.epsilon = 0.3, .delta = 0.6});
  if (scheme == "ctl_cactus_.1") return std::make_shared<As<Cactus>>(wrong, Cactus{.divergence = 0.1});
  if (scheme == "ctl_iid_resorted_kseq") return std::make_shared<As<ResortedKSeq>>(wrong);
  if (scheme.starts_with("rrs_order_")) return std::make_shared<As<RecursiveRejectionIndependent>>(ours);
  if (scheme == "rrs_dedup") return registered("recursive_rejection_distinct");
  if (scheme == "greedy_verify") return registered("greedy_drafts");
  if (scheme == "spechub") return registered("spec_hub");
  if (scheme == "tail_draw_verify") return registered("tail_draw");
  if (scheme == "ctl_lenience_.5") return std::make_shared<As<Lenience>>(wrong, Lenience{.lenience = 0.5});
  if (scheme == "ctl_argmax_match") return std::make_shared<As<ArgmaxMatch>>(wrong);
  if (scheme == "ctl_no_residual_update") return std::make_shared<As<NoResidualUpdate>>(wrong);
  if (scheme == "ctl_iid_resorted_rrs") return std::make_shared<As<ResortedDrafts>>(wrong);
  if (scheme == "ctl_wor_resorted_rrs_wor") return std::make_shared<As<ResortedWor>>(wrong);
  if (scheme == "ctl_topk_drafts_wor_verifier") return std::make_shared<As<FixedVerifiedAsSampled>>(wrong);
  return nullptr;
}

/// Largest deviation of flag, membership, output law and its distance to p from the file.
template <class L>
double deviation(const golden::Case& c, const AnyVerifier& scheme, const L& laws) {
  const auto decider = scheme.explore_on(laws, c.drafts);
  const auto law = explore_law(*golden::drafter(c.draft_law), *decider, laws, c.drafts);
  EXPECT_TRUE(law.complete) << c.id;
  double largest = std::max(std::abs(law.flag - c.flag), std::abs(law.membership - c.membership));
  double distance = 0;
  for (std::size_t x = 0; x < c.p.size(); ++x) {
    largest = std::max(largest, std::abs(law.output[x] - c.output[x]));
    distance += std::abs(law.output[x] - c.p[x]) / 2;
  }
  return std::max(largest, std::abs(distance - c.distance));
}

/// Compares a scheme with `c` on all models and returns the largest deviation.
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
  std::map<std::string, int> compared;
  double largest = 0;
  for (const golden::Case& c : golden::cases()) {
    const auto scheme = verifier(c.scheme, c.drafts);
    if (!scheme || !golden::drafter(c.draft_law)) continue;
    ASSERT_TRUE(scheme->takes(c.drafts)) << c.id;
    largest = std::max(largest, expect_golden(c, *scheme));
    ++compared[c.scheme + "/" + c.draft_law];
  }
  RecordProperty("largest_deviation", std::to_string(largest));
  std::cout << "largest deviation " << largest << '\n';
  // The number of cases in the file: none may be skipped.
  const std::map<std::string, int> expected{{"ctl_argmax_match/iid", 20},
                                            {"ctl_cactus_.1/iid", 20},
                                            {"ctl_iid_resorted_kseq/iid", 20},
                                            {"ctl_typical_best_eps.3_del.09/iid", 20},
                                            {"ctl_typical_sample_eps.3_del.6/iid", 20},
                                            {"ctl_iid_resorted_rrs/iid", 20},
                                            {"ctl_lenience_.5/iid", 20},
                                            {"ctl_no_residual_update/iid", 20},
                                            {"ctl_topk_drafts_wor_verifier/topk_fixed", 20},
                                            {"ctl_wor_resorted_rrs_wor/wor_stop", 20},
                                            {"greedy_verify/greedy", 41},
                                            {"rrs_dedup/iid", 69},
                                            {"rrs_order_01/indep", 2},
                                            {"rrs_order_012/indep", 1},
                                            {"rrs_order_021/indep", 1},
                                            {"rrs_order_10/indep", 2},
                                            {"rrs_order_102/indep", 1},
                                            {"rrs_order_120/indep", 1},
                                            {"rrs_order_201/indep", 1},
                                            {"rrs_order_210/indep", 1},
                                            {"spechub/spechub", 23},
                                            {"tail_draw_verify/rheo_m1", 18},
                                            {"ctl_fallback_p/iid", 20},
                                            {"ctl_typical_eps.09_del.3/iid", 20},
                                            {"ctl_typical_eps.3_del.6/iid", 20},
                                            {"ctl_wor_drafts_iid_verifier/wor_stop", 20},
                                            {"kseq/iid", 69},
                                            {"kseq_rho=K/iid", 69},
                                            {"naive/iid", 69},
                                            {"naive/indep", 3},
                                            {"naive/topk_fixed", 23},
                                            {"naive/wor_stop", 46},
                                            {"naive/wor_uniform", 41},
                                            {"naive_tree/iid", 69},
                                            {"rrs/iid", 69},
                                            {"rrs_wor/wor_stop", 46},
                                            {"rrs_wor/wor_uniform", 41}};
  EXPECT_EQ(compared, expected);
}

TEST(Golden, OrdersOfDifferentProposals) {
  // "rrs_order_201" has the proposals in the order of their tests. Here they keep their order, and the verifier has
  // the order of tests. A random order accepts the mean over all orders, all of which are in the file.
  struct Mean {
    golden::Case natural;
    double flag = 0;
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
    expect_golden(natural, As<verifiers::RecursiveRejectionIndependent>(Kind::verifier, scheme));
    Mean& mean = means.try_emplace(c.id.substr(0, c.id.find('/')), Mean{natural}).first->second;
    EXPECT_EQ(mean.natural.q, natural.q) << c.id;
    mean.flag += c.flag;
    ++mean.orders;
  }
  ASSERT_EQ(means.size(), 3u);
  for (auto& [instance, mean] : means) {
    EXPECT_EQ(mean.orders, mean.natural.drafts == 2 ? 2 : 6) << instance;
    mean.natural.id = instance + ", random order";
    mean.natural.flag = mean.natural.membership = mean.flag / mean.orders;
    expect_golden(mean.natural, As<verifiers::RecursiveRejectionRandomOrder>(Kind::verifier));
  }
}

TEST(Golden, SingleDraftIsRecursiveRejectionOfOneDraft) {
  const As<verifiers::SingleDraft> single(Kind::verifier);
  int compared = 0;
  for (const golden::Case& c : golden::cases())
    if (c.scheme == "rrs" && c.drafts == 1) {
      expect_golden(c, single);
      ++compared;
    }
  EXPECT_EQ(compared, 23);
}

}  // namespace
}  // namespace draftproof
