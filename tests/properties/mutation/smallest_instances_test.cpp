// The smallest instance that reveals each mutant, with its law in fractions computed by hand; and instances on which
// a mutant has the law of the correct rule.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/properties/instances/generator.hpp>
#include <draftproof/properties/proof/instance_analysis.hpp>
#include <draftproof/properties/prover/registry.hpp>

namespace draftproof {
namespace {

struct SmallestInstance {
  std::string mutant, law, instance;
  std::vector<int> output;  ///< weights of the wrong law
  Rational distance;
};

ExactLaw<Rational> law_at(std::string_view verifier, std::string_view law, const Instance& instance) {
  InstanceAnalysis at(*registry().verifier(verifier), *registry().drafter(law), instance);
  return at.law();
}

class SmallestInstances : public testing::TestWithParam<SmallestInstance> {};

TEST_P(SmallestInstances, HaveTheLawWorkedOutByHand) {
  const SmallestInstance& wanted = GetParam();
  const Instance instance = Instance::parse(wanted.instance);
  const auto law = law_at(wanted.mutant, wanted.law, instance);
  EXPECT_EQ(law.mass, 1);
  EXPECT_EQ(law.output, normalised(wanted.output)) << to_text(law.output);
  EXPECT_EQ(total_variation(law.output, normalised(instance.target)), wanted.distance);
}

INSTANTIATE_TEST_SUITE_P(
    Catalogue, SmallestInstances,
    testing::Values(
        SmallestInstance{"accept_always", "iid", "p=(0 1)/1 q=(1 0)/1 K=1", {1, 0}, 1},
        SmallestInstance{"accept_if_match_or_ratio", "iid", "p=(1 1)/2 q=(0 1)/1 K=1", {1, 3}, Rational(1, 4)},
        SmallestInstance{"ratio_inverted", "iid", "p=(1 2)/3 q=(2 1)/3 K=1", {2, 1}, Rational(1, 3)},
        SmallestInstance{"epsilon_accept", "iid", "p=(1 2)/3 q=(1 3)/4 K=1", {1, 3}, Rational(1, 12)},
        SmallestInstance{"typical_acceptance", "iid", "p=(1 1)/2 q=(0 1)/1 K=1", {0, 1}, Rational(1, 2)},
        SmallestInstance{"lenience", "iid", "p=(1 1)/2 q=(0 1)/1 K=1", {0, 1}, Rational(1, 2)},
        SmallestInstance{"first_draft_unchecked", "iid", "p=(0 1)/1 q=(1 0)/1 K=1", {1, 0}, 1},
        SmallestInstance{"resample_from_target", "iid", "p=(1 1)/2 q=(0 1)/1 K=1", {1, 3}, Rational(1, 4)},
        SmallestInstance{
            "residual_lowers_one_entry", "iid", "p=(0 1 1)/2 q=(1 0 1)/2 K=1", {0, 1, 3}, Rational(1, 4)},
        SmallestInstance{"residual_argmax", "iid", "p=(0 1 1)/2 q=(1 0 0)/1 K=1", {0, 1, 0}, Rational(1, 2)},
        SmallestInstance{
            "wor_verified_as_iid", "without_replacement", "p=(0 1 1)/2 q=(2 0 1)/3 K=2", {0, 1, 5}, Rational(1, 3)},
        SmallestInstance{
            "iid_verified_as_wor_counting_repeats", "iid", "p=(0 1 1)/2 q=(2 0 1)/3 K=2", {0, 11, 7}, Rational(1, 9)},
        SmallestInstance{
            "sibling_residual_not_normalised", "iid", "p=(0 1 2)/3 q=(1 0 1)/2 K=2", {0, 5, 7}, Rational(1, 12)},
        SmallestInstance{"resorted_drafts", "iid", "p=(1 1)/2 q=(1 1)/2 K=2", {3, 1}, Rational(1, 4)},
        SmallestInstance{"resorted_wor", "without_replacement", "p=(1 1)/2 q=(1 1)/2 K=2", {1, 0}, Rational(1, 2)},
        SmallestInstance{
            "fixed_verified_as_sampled", "fixed_top_k", "p=(1 1)/2 q=(1 1)/2 K=1", {1, 0}, Rational(1, 2)},
        SmallestInstance{
            "fixed_verified_as_sampled", "fixed_top_k", "p=(1 1)/2 q=(1 1)/2 K=2", {1, 0}, Rational(1, 2)},
        SmallestInstance{"kseq_rho_one", "iid", "p=(1 2)/3 q=(2 1)/3 K=2", {4, 5}, Rational(1, 9)},
        SmallestInstance{"single_draft", "greedy_draft_soft_q", "p=(1 1)/2 q=(1 1)/2 K=1", {1, 0}, Rational(1, 2)},
        SmallestInstance{
            "single_draft", "truncated_draft_raw_q", "p=(0 1 1)/2 q=(2 1 2)/5 K=1", {0, 3, 5}, Rational(1, 8)},
        SmallestInstance{
            "single_draft", "draft_temperature_mismatch", "p=(1 1)/2 q=(1 2)/3 K=1", {2, 3}, Rational(1, 10)},
        SmallestInstance{
            "single_draft", "reduced_vocabulary_ids_unmapped", "p=(1 2)/3 q=(1 2)/3 K=1", {2, 1}, Rational(1, 3)}));

TEST(SmallestInstances, IdsOffByOneDraftWhatQCannot) {
  EXPECT_THROW(law_at("single_draft", "reduced_vocabulary_ids_unmapped", Instance::parse("p=(0 1)/1 q=(0 1)/1 K=1")),
               std::logic_error);
}

/// Instances of one kind: V tokens, K drafts, rows made by `rows`.
template <class Fill>
std::vector<Instance> some_instances(int count, Fill fill) {
  std::vector<Instance> instances;
  for (int n = 0; n < count; ++n) {
    InstanceRng dice(4711, static_cast<std::uint64_t>(n));
    Instance instance;
    instance.proposals.resize(1);
    fill(dice, instance);
    instances.push_back(std::move(instance));
  }
  return instances;
}

std::vector<int> weights_between(InstanceRng& dice, int size, int least, int most) {
  std::vector<int> row(static_cast<std::size_t>(size));
  do {
    for (int& weight : row) weight = dice.between(least, most);
  } while (row == std::vector<int>(row.size(), 0));
  return row;
}

void expect_hidden(const std::vector<std::string>& mutants, const std::vector<Instance>& instances) {
  for (const std::string& name : mutants) {
    const AnyVerifier* mutant = registry().verifier(name);
    ASSERT_TRUE(mutant) << name;
    int met = 0;
    for (const AnyDrafter* drafter : registry().drafters_of(mutant->info()))
      for (const Instance& instance : instances) {
        if (!InstanceAnalysis::possible(*mutant, *drafter, instance)) continue;
        ++met;
        EXPECT_EQ(law_at(name, drafter->info().name, instance).output, normalised(instance.target))
            << name << " on " << instance.text();
      }
    EXPECT_GE(met, 20) << name;
  }
}

bool shows(const std::string& mutant, const std::vector<Instance>& instances) {
  const AnyVerifier& verifier = *registry().verifier(mutant);
  for (const AnyDrafter* drafter : registry().drafters_of(verifier.info()))
    for (const Instance& instance : instances)
      if (InstanceAnalysis::possible(verifier, *drafter, instance) &&
          law_at(mutant, drafter->info().name, instance).output != normalised(instance.target))
        return true;
  return false;
}

TEST(HiddenMutants, TwoTokensOneDraft) {
  expect_hidden({"residual_lowers_one_entry", "residual_argmax"},
                some_instances(40, [](InstanceRng& dice, Instance& at) {
                  at.target = weights_between(dice, 2, 0, 6);
                  at.proposals[0] = weights_between(dice, 2, 0, 6);
                }));
}

TEST(HiddenMutants, AResidualOfOneToken) {
  // q has a little more than p everywhere but at token 0.
  expect_hidden({"residual_argmax"}, some_instances(40, [](InstanceRng& dice, Instance& at) {
                  at.target = weights_between(dice, dice.between(2, 5), 1, 6);
                  at.proposals[0] = at.target;
                  at.target[0] += dice.between(1, 5);
                }));
}

TEST(HiddenMutants, TwoTokensTwoDraftsAndAPositiveProposal) {
  expect_hidden({"wor_verified_as_iid", "iid_verified_as_wor_counting_repeats", "sibling_residual_not_normalised"},
                some_instances(60, [](InstanceRng& dice, Instance& at) {
                  at.target = weights_between(dice, 2, 0, 6);
                  at.proposals[0] = weights_between(dice, 2, 1, 6);
                  at.drafts = 2;
                }));
}

TEST(HiddenMutants, OneDraft) {
  expect_hidden({"wor_verified_as_iid", "iid_verified_as_wor_counting_repeats", "sibling_residual_not_normalised",
                 "resorted_drafts", "resorted_wor", "resorted_k_seq", "kseq_rho_one", "no_residual_update"},
                some_instances(40, [](InstanceRng& dice, Instance& at) {
                  const int size = dice.between(2, 5);
                  at.target = weights_between(dice, size, 0, 6);
                  at.proposals[0] = weights_between(dice, size, 0, 6);
                }));
}

TEST(HiddenMutants, EqualLaws) {
  const auto equal = some_instances(60, [](InstanceRng& dice, Instance& at) {
    at.target = weights_between(dice, dice.between(2, 4), 0, 6);
    at.proposals[0] = at.target;
    at.drafts = dice.between(1, 3);
  });
  expect_hidden({"accept_always", "accept_if_match_or_ratio", "ratio_inverted", "epsilon_accept", "lenience",
                 "first_draft_unchecked", "resample_from_target", "residual_lowers_one_entry", "residual_argmax",
                 "wor_verified_as_iid", "iid_verified_as_wor_counting_repeats", "sibling_residual_not_normalised",
                 "kseq_rho_one", "no_residual_update"},
                equal);
  for (const char* seen : {"typical_acceptance", "resorted_drafts", "resorted_wor", "fixed_verified_as_sampled"})
    EXPECT_TRUE(shows(seen, equal)) << seen;
}

TEST(HiddenMutants, DisjointSupports) {
  const auto apart = some_instances(40, [](InstanceRng& dice, Instance& at) {
    const int size = dice.between(2, 5);
    at.target = weights_between(dice, size, 1, 6);
    at.proposals[0] = weights_between(dice, size, 1, 6);
    for (std::size_t x = 0; x < at.target.size(); ++x) (x % 2 ? at.target : at.proposals[0])[x] = 0;
    at.drafts = dice.between(1, 2);
  });
  expect_hidden({"resample_from_target", "accept_if_match_or_ratio", "kseq_rho_one"}, apart);
  EXPECT_TRUE(shows("accept_always", apart));
}

TEST(HiddenMutants, LoweringOneEntryIsSettingItToZero) {
  // A refused token has p < q, so its residual is clipped to 0: the law of a draw from p without the token.
  for (const Instance& at : some_instances(60, [](InstanceRng&dice, Instance&instance) {
         const int size = dice.between(2, 5);
         instance.target = weights_between(dice, size, 0, 6);
         instance.proposals[0] = weights_between(dice, size, 0, 6);
       })) {
    const auto p = normalised(at.target), q = normalised(at.proposals[0]);
    std::vector<Rational> wanted(p.size());
    for (std::size_t x = 0; x < p.size(); ++x) {
      const Rational kept = std::min(p[x], q[x]);
      wanted[x] += kept;
      if (kept == q[x]) continue;
      for (std::size_t y = 0; y < p.size(); ++y)
        if (y != x) wanted[y] += (q[x] - kept) * p[y] / (1 - p[x]);
    }
    EXPECT_EQ(law_at("residual_lowers_one_entry", "iid", at).output, wanted) << at.text();
  }
}

}  // namespace
}  // namespace draftproof
