// Tests of rules that look biased and are exact. Each passes every property on at least a hundred instances with a
// distance of exactly 0, and accepts at most the optimum; a failed property would be a false alarm.
#include <algorithm>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/optimum/exact/rational.hpp>
#include <draftproof/properties/prover/prover.hpp>
#include <draftproof/properties/subjects/erased.hpp>
#include <draftproof/sim/sampling/without_replacement.hpp>
#include <draftproof/verifiers/k_seq.hpp>
#include <draftproof/verifiers/mutants/draft_order.hpp>
#include <draftproof/verifiers/optimal_transport.hpp>
#include <draftproof/verifiers/recursive_rejection.hpp>
#include <draftproof/verifiers/recursive_rejection_wor.hpp>
#include <draftproof/verifiers/sample_and_match.hpp>

namespace draftproof {
namespace {

constexpr Info innocent(std::string_view name, DraftSamplings drafts, int most = 0) {
  return {.name = name,
          .summary = "looks biased, is exact",
          .source = "this test",
          .drafts = drafts,
          .most_drafts = most};
}

void expect_exact_on(const AnyVerifier& verifier, const AnyDrafter& drafter, const std::vector<Instance>& instances) {
  int met = 0;
  for (const Instance& instance : instances) {
    if (!InstanceAnalysis::possible(verifier, drafter, instance)) continue;
    const Proof proof = prove_on(verifier, drafter, instance, {});
    ASSERT_TRUE(proof.exact()) << verifier.info().name << " on " << instance.text();
    EXPECT_FALSE(proof.violation()) << verifier.info().name << ": " << proof.violation()->property << " on "
                                    << instance.text() << ", " << proof.violation()->evidence;
    ASSERT_TRUE(proof.distance);
    EXPECT_EQ(proof.distance->largest, 0);
    if (met++ % 8 > 0) continue;
    InstanceAnalysis at(verifier, drafter, instance);
    EXPECT_LE(at.distribution().draft_emitted, at.optimum()) << "acceptance and optimum on " << instance.text();
  }
  EXPECT_GE(met, 100) << verifier.info().name << " with " << drafter.info().name;
}

/// Returns 120 generated instances of up to six tokens, changed by `edit`.
template <class Edit>
std::vector<Instance> edited_instances(int most, Edit edit, bool several = false) {
  std::vector<Instance> instances;
  for (int n = 0; std::ssize(instances) < 120; ++n) {
    Instance instance = generate_instance(7, n, most, several);
    if (instance.vocabulary() > (instance.drafts > 2 ? 4 : 6)) continue;
    edit(instance);
    instances.push_back(std::move(instance));
  }
  return instances;
}

void expect_exact(const AnyVerifier& verifier, std::string_view distribution, int most = 3) {
  expect_exact_on(verifier, *registry().drafter(distribution), edited_instances(most, [](Instance&) {}));
}

template <class V>
void expect_exact(std::string_view distribution, V verifier = {}, int most = 3) {
  expect_exact(VerifierOf<V>(Kind::verifier, std::move(verifier)), distribution, most);
}

TEST(FalseAlarms, TheTokenIsTheTargetsOwnSample) {
  for (const char* distribution : {"iid", "without_replacement", "fixed_top_k"})
    expect_exact(*registry().verifier("sample_and_match"), distribution);
}

/// Tests each distinct draft x with probability p(x) / (remaining mass of p); a rejected token is removed from p. With
/// one draft: accepts with probability p(x), else draws from p without x. The rule reads no proposal, so the drafts may
/// have any distribution.
struct TargetAlone {
  static constexpr Info info = innocent("target_alone", DraftSamplings{"iid", "fixed_top_k", "without_replacement"});
  template <Position P, RandomSource R>
  Verdict verify(const P& at, R& random) const {
    auto left = at.one();
    Token seen[max_drafts];
    int count = 0;
    for (int k = 0; k < at.drafts(); ++k) {
      const Token x = at.draft(k);
      if (among(x, seen, count)) continue;
      if (random.flip(at.target(x), left)) return accepted(x, k);
      left -= at.target(x);
      seen[count++] = x;
    }
    return random.emit(at.weights([&at, &seen, count](Token y) {
      return among(y, seen, count) ? at.zero() : typename P::Scalar(at.target(y));
    }));
  }
};

TEST(FalseAlarms, ARatioWithoutAProposal) {
  for (const char* distribution : {"iid", "fixed_top_k"}) expect_exact(distribution, TargetAlone{}, 1);
}
TEST(FalseAlarms, DistinctChildrenTestedAgainstTheTargetAlone) {
  for (const char* distribution : {"fixed_top_k", "without_replacement"}) expect_exact(distribution, TargetAlone{});
}

TEST(FalseAlarms, AGreedyDraftDeclaredAsAPointMass) {
  const auto one_hot = edited_instances(1, [](Instance& instance) {
    auto& q = instance.proposals.front();
    const auto best = std::max_element(q.begin(), q.end()) - q.begin();
    std::fill(q.begin(), q.end(), 0);
    q[static_cast<std::size_t>(best)] = 1;
  });
  expect_exact_on(*registry().verifier("single_draft"), *registry().drafter("iid"), one_hot);
}

TEST(FalseAlarms, EveryDraftIsAcceptedWhereTheDistributionsAgree) {
  const AnyVerifier& verifier = *registry().verifier("single_draft");
  const AnyDrafter& drafter = *registry().drafter("iid");
  // All drafts are certain: p is a point mass, and q is equal to p.
  const auto certain = edited_instances(1, [](Instance& instance) {
    auto& p = instance.target;
    const auto best = std::max_element(p.begin(), p.end()) - p.begin();
    std::fill(p.begin(), p.end(), 0);
    p[static_cast<std::size_t>(best)] = 1;
    instance.proposals.front() = p;
  });
  expect_exact_on(verifier, drafter, certain);
  for (const Instance& instance : certain)
    EXPECT_EQ(InstanceAnalysis(verifier, drafter, instance).distribution().draft_accepted, 1);
}

/// Recursive rejection without replacement that skips repeats without changing the residual.
struct RepeatsPassedOver {
  static constexpr Info info = innocent("repeats_passed_over", DraftSamplings{"iid"});
  template <Position P, RandomSource R>
  Verdict verify(const P& at, R& random) const {
    auto b = at.zero(), mass = at.one();
    Token seen[max_drafts];
    int count = 0;
    for (int k = 0; k < at.drafts(); ++k) {
      const Token x = at.draft(k);
      if (among(x, seen, count)) continue;
      const auto unseen = at.mass_without(0, seen, count);
      if (random.flip((at.target(x) - b * at.proposal(x)) * unseen, mass * at.proposal(x))) return accepted(x, k);
      b += mass / unseen;
      mass = at.residual_mass(b);
      seen[count++] = x;
    }
    return random.emit(at.residual(b));
  }
};

TEST(FalseAlarms, RepeatsDroppedOrPassedOver) {
  expect_exact(*registry().verifier("recursive_rejection_distinct"), "iid");
  expect_exact<RepeatsPassedOver>("iid");
}

/// K-SEQ with a factor above its root, which is exact.
struct FactorAbove : verifiers::KSeq {
  static constexpr Info info = innocent("factor_above", DraftSamplings{"iid"});
};

TEST(FalseAlarms, AFactorAtOrAboveTheRoot) {
  FactorAbove wide;
  wide.factor = 3;  // at least K
  expect_exact("iid", wide);
}

/// K-SEQ with the factor for four drafts at every number of drafts; the residual uses the actual number.
struct FactorOfMoreDrafts {
  static constexpr Info info = innocent("factor_of_more_drafts", DraftSamplings{"iid"});
  template <Distributions L>
  auto prepare(const L& distributions, int drafts) const {
    using Scalar = typename L::Scalar;
    auto plan = verifiers::KSeq{}.prepare(distributions, 4);
    const Scalar refused =
        distributions.one() - (distributions.one() - distributions.residual_mass(plan.factor)) / plan.factor;
    plan.served = distributions.zero();
    for (int k = 0; k < drafts; ++k) plan.served = distributions.one() + refused * plan.served;
    return plan;
  }
  template <Position P, RandomSource R>
  Verdict verify(const P& at, const verifiers::KSeq::Plan<typename P::Scalar>& plan, R& random) const {
    return verifiers::KSeq{}.verify(at, plan, random);
  }
};
TEST(FalseAlarms, AFactorOfMoreDraftsThanAreActive) { expect_exact<FactorOfMoreDrafts>("iid"); }

/// Recursive rejection that tests the drafts from the last to the first, or in an order drawn independently of the
/// drafts.
template <class V>
struct TestedInOtherOrder {
  template <Position P, RandomSource R>
  Verdict verify(const P& at, R& random) const {
    int order[max_drafts];
    V::draw(at.drafts(), random, order);
    Token moved[max_drafts];
    for (int k = 0; k < at.drafts(); ++k) moved[k] = at.draft(order[k]);
    const DraftedPosition<typename P::Underlying> other(at.distributions(), moved, at.drafts());
    Verdict verdict = verifiers::RecursiveRejection{}.verify(other, random);
    if (verdict.accepted >= 0) verdict.accepted = order[verdict.accepted];
    return verdict;
  }
};
struct LastDraftFirst : TestedInOtherOrder<LastDraftFirst> {
  static constexpr Info info = innocent("last_draft_first", DraftSamplings{"iid"});
  template <class R>
  static void draw(int drafts, R&, int* order) {
    for (int k = 0; k < drafts; ++k) order[k] = drafts - 1 - k;
  }
};
struct RandomOrder : TestedInOtherOrder<RandomOrder> {
  static constexpr Info info = innocent("random_order", DraftSamplings{"iid"});
  template <class R>
  static void draw(int drafts, R& random, int* order) {
    for (int k = 0; k < drafts; ++k) order[k] = random.pick(UniformOnComplement{drafts, order, k});
  }
};

TEST(FalseAlarms, AnOrderFixedOrDrawnWithoutTheTokens) {
  expect_exact<LastDraftFirst>("iid");
  expect_exact<RandomOrder>("iid");
  const AnyVerifier& several = *registry().verifier("recursive_rejection_random_order");
  expect_exact_on(several, *registry().drafter("independent"),
                  edited_instances(
                      3, [](Instance&) {}, true));
}

/// Rules that sort the drafts. Sorting is wrong for a rule that depends on the order of drafts; the rules below depend
/// only on the set of drafts.
struct SortedMatch : mutants::detail::Resorted<verifiers::SampleAndMatch> {
  static constexpr Info info = innocent("sorted_match", DraftSamplings{"iid", "without_replacement"});
};
struct SortedTransport : mutants::detail::Resorted<verifiers::OptimalTransport> {
  static constexpr Info info = innocent("sorted_transport", DraftSamplings{"iid"}, 2);
};

TEST(FalseAlarms, SortedDraftsForRulesThatReadTheSet) {
  for (const char* distribution : {"iid", "without_replacement"}) expect_exact<SortedMatch>(distribution);
  expect_exact("iid", SortedTransport{}, 2);
}

TEST(FalseAlarms, ADraftCacheGoneWrongCostsAcceptanceAlone) {
  // Drafts that a cache holds for another context have another q. The output is exact, because the drafts are declared
  // to have this q. In this test it is p in reverse order.
  const auto stale = edited_instances(3, [](Instance& instance) {
    instance.proposals.front().assign(instance.target.rbegin(), instance.target.rend());
  });
  for (const char* name : {"recursive_rejection", "k_seq"})
    expect_exact_on(*registry().verifier(name), *registry().drafter("iid"), stale);
}

TEST(FalseAlarms, TokensFixedByTheirNoise) {
  // Given its noise, a coupling always emits the same token. Over random noise its output is exact, so no property must
  // fail.
  for (const auto& verifier : registry().verifiers()) {
    if (!verifier->info().shared_noise || verifier->kind() == Kind::mutant) continue;
    for (const AnyDrafter* drafter : registry().drafters_of(verifier->info())) {
      const Proof proof = prove(*verifier, *drafter, {.instances = 100});
      EXPECT_EQ(proof.instances, 100) << verifier->info().name;
      EXPECT_TRUE(proof.kept()) << verifier->info().name;
      EXPECT_FALSE(proof.violation()) << verifier->info().name << ": " << proof.violation()->evidence;
    }
  }
}

/// A wrong variant of TargetAlone: after a rejection it draws from all of p, so the draft is emitted too often.
struct TargetAloneThenAll {
  static constexpr Info info = innocent("target_alone_then_all", DraftSamplings{"iid"}, 1);
  template <Position P, RandomSource R>
  Verdict verify(const P& at, R& random) const {
    const Token x = at.draft(0);
    if (random.flip(at.target(x), at.one())) return accepted(x, 0);
    return random.emit(at.residual(at.zero()));
  }
};

TEST(FalseAlarms, TheSameSuiteSeesTheNeighbouringMistake) {
  const VerifierOf<TargetAloneThenAll> verifier(Kind::mutant);
  const Proof proof = prove(verifier, *registry().drafter("iid"), {.instances = 60});
  EXPECT_FALSE(proof.exact());
  EXPECT_TRUE(proof.violation());
}

}  // namespace
}  // namespace draftproof
