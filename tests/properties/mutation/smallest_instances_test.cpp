// Tests the smallest instance that reveals each mutant, against its distribution in fractions computed by hand; and
// instances on which a mutant has the distribution of the correct rule.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/properties/instances/generator.hpp>
#include <draftproof/properties/instances/instance_text.hpp>
#include <draftproof/properties/paths/path_analysis.hpp>
#include <draftproof/properties/proof/instance_analysis.hpp>
#include <draftproof/properties/prover/registry.hpp>

namespace draftproof {
namespace {

struct Smallest {
  const char *mutant, *distribution, *instance;
  std::vector<int> output;  ///< weights of the mutant's output distribution; for paths, of its first emitted token
  Rational distance;        ///< total variation from the target; for paths, over strings of L + 1 tokens
};

ExactDistribution<Rational> distribution_at(std::string_view verifier, std::string_view distribution,
                                            const Instance& instance) {
  InstanceAnalysis at(*registry().verifier(verifier), *registry().drafter(distribution), instance);
  return at.distribution();
}

const Smallest smallest_positions[]{
    {"accept_always", "iid", "p=(0 1)/1 q=(1 0)/1 K=1", {1, 0}, 1},
    {"accept_if_match_or_ratio", "iid", "p=(1 1)/2 q=(0 1)/1 K=1", {1, 3}, {1, 4}},
    {"ratio_inverted", "iid", "p=(1 2)/3 q=(2 1)/3 K=1", {2, 1}, {1, 3}},
    {"epsilon_accept", "iid", "p=(1 2)/3 q=(1 3)/4 K=1", {1, 3}, {1, 12}},
    {"typical_acceptance", "iid", "p=(1 1)/2 q=(0 1)/1 K=1", {0, 1}, {1, 2}},
    {"lenience", "iid", "p=(1 1)/2 q=(0 1)/1 K=1", {0, 1}, {1, 2}},
    {"first_draft_unchecked", "iid", "p=(0 1)/1 q=(1 0)/1 K=1", {1, 0}, 1},
    {"resample_from_target", "iid", "p=(1 1)/2 q=(0 1)/1 K=1", {1, 3}, {1, 4}},
    {"residual_lowers_one_entry", "iid", "p=(0 1 1)/2 q=(1 0 1)/2 K=1", {0, 1, 3}, {1, 4}},
    {"residual_argmax", "iid", "p=(0 1 1)/2 q=(1 0 0)/1 K=1", {0, 1, 0}, {1, 2}},
    {"wor_verified_as_iid", "without_replacement", "p=(0 1 1)/2 q=(2 0 1)/3 K=2", {0, 1, 5}, {1, 3}},
    {"iid_verified_as_wor_counting_repeats", "iid", "p=(0 1 1)/2 q=(2 0 1)/3 K=2", {0, 11, 7}, {1, 9}},
    {"sibling_residual_not_normalised", "iid", "p=(0 1 2)/3 q=(1 0 1)/2 K=2", {0, 5, 7}, {1, 12}},
    {"resorted_drafts", "iid", "p=(1 1)/2 q=(1 1)/2 K=2", {3, 1}, {1, 4}},
    {"resorted_wor", "without_replacement", "p=(1 1)/2 q=(1 1)/2 K=2", {1, 0}, {1, 2}},
    {"fixed_verified_as_sampled", "fixed_top_k", "p=(1 1)/2 q=(1 1)/2 K=1", {1, 0}, {1, 2}},
    {"fixed_verified_as_sampled", "fixed_top_k", "p=(1 1)/2 q=(1 1)/2 K=2", {1, 0}, {1, 2}},
    {"kseq_rho_one", "iid", "p=(1 2)/3 q=(2 1)/3 K=2", {4, 5}, {1, 9}},
    {"single_draft", "greedy_draft_soft_q", "p=(1 1)/2 q=(1 1)/2 K=1", {1, 0}, {1, 2}},
    {"single_draft", "truncated_draft_raw_q", "p=(0 1 1)/2 q=(2 1 2)/5 K=1", {0, 3, 5}, {1, 8}},
    {"single_draft", "draft_temperature_mismatch", "p=(1 1)/2 q=(1 2)/3 K=1", {2, 3}, {1, 10}},
    {"single_draft", "reduced_vocabulary_ids_unmapped", "p=(1 2)/3 q=(1 2)/3 K=1", {2, 1}, {1, 3}}};

TEST(SmallestInstances, HaveTheDistributionWorkedOutByHand) {
  for (const Smallest& wanted : smallest_positions) {
    SCOPED_TRACE(std::string(wanted.mutant) + " with " + wanted.distribution + " on " + wanted.instance);
    const Instance instance = Instance::parse(wanted.instance);
    const auto distribution = distribution_at(wanted.mutant, wanted.distribution, instance);
    EXPECT_EQ(distribution.mass, 1);
    EXPECT_EQ(distribution.output, normalised(wanted.output)) << to_text(distribution.output);
    EXPECT_EQ(total_variation(distribution.output, normalised(instance.target)), wanted.distance);
  }
}

TEST(SmallestInstances, IdsOffByOneDraftWhatQCannot) {
  EXPECT_THROW(
      distribution_at("single_draft", "reduced_vocabulary_ids_unmapped", Instance::parse("p=(0 1)/1 q=(0 1)/1 K=1")),
      std::logic_error);
}

/// Returns `count` instances; `fill` sets the weights of each.
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
        EXPECT_EQ(distribution_at(name, drafter->info().name, instance).output, normalised(instance.target))
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
          distribution_at(mutant, drafter->info().name, instance).output != normalised(instance.target))
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
  // Only token 0 is in the residual, because `p` is q with the weight of token 0 raised: after normalisation q > p on
  // all other tokens.
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

TEST(HiddenMutants, EqualDistributions) {
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
  // The mutant lowers only the rejected token's entry of p, by q. A rejected token has p < q, so its entry becomes 0:
  // the result is p without the token.
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
    EXPECT_EQ(distribution_at("residual_lowers_one_entry", "iid", at).output, wanted) << at.text();
  }
}

struct SeenPath {
  StepDistribution<Rational> distribution;
  std::vector<Rational> first;
  std::optional<Rational> distance{};
};

SeenPath seen_path(std::string_view verifier, std::string_view distribution, const PathInstance& instance) {
  PathInstanceAnalysis at(*path_registry().verifier(verifier), *path_registry().drafter(distribution), instance);
  SeenPath seen{.distribution = at.distribution(),
                .first = std::vector<Rational>(static_cast<std::size_t>(instance.vocabulary()))};
  for (const auto& [tokens, probability] : seen.distribution.emitted)
    seen.first[static_cast<std::size_t>(tokens.front())] += probability;
  seen.distance = BlockLevel::distance(at);
  return seen;
}

const char* const small_path = "L=2 K=1 [] p=(1 2)/3 q=(2 1)/3";
const Smallest smallest_paths[]{
    {"first_draft_unchecked_path", "iid_paths", "L=1 K=1 [] p=(0 1)/1 q=(1 0)/1", {1, 0}, 1},
    {"resample_from_target_path", "iid_paths", "L=1 K=1 [] p=(1 1)/2 q=(0 1)/1", {1, 3}, {1, 4}},
    {"bonus_one_row_early",
     "iid_paths",
     "L=1 K=1 [] p=(1 1)/2 q=(1 1)/2 [0] p=(1 0)/1 q=(1 1)/2 [1] p=(1 0)/1 q=(1 1)/2",
     {1, 1},
     {1, 2}},
    {"correction_one_row_late",
     "iid_paths",
     "L=1 K=1 [] p=(0 1)/1 q=(1 0)/1 [0] p=(1 0)/1 q=(1 1)/2 [1] p=(1 0)/1 q=(1 1)/2",
     {1, 0},
     1},
    {"block_clipped_tests", "iid_paths", small_path, {1, 1}, {1, 6}},
    {"hsd_repository", "iid_paths", small_path, {1, 2}, {1, 9}},
    {"gbv_unskewed", "iid_paths", "L=1 K=2 [] p=(1 1)/2 q=(1 1)/2", {3, 1}, {1, 4}},
    {"gbv_ties_differ", "iid_paths", "L=1 K=2 [] p=(1 1)/2 q=(1 1)/2", {1, 2}, {1, 6}},
    {"traversal_sorted", "without_replacement_tree", "L=1 K=2 [] p=(1 1)/2 q=(1 1)/2", {1, 0}, {1, 2}},
    {"one_coin_for_all_positions", "iid_paths", "L=2 K=1 [] p=(1 1)/2 q=(1 0)/1", {1, 1}, {1, 4}}};

TEST(SmallestPaths, HaveTheDistributionWorkedOutByHand) {
  for (const Smallest& wanted : smallest_paths) {
    SCOPED_TRACE(std::string(wanted.mutant) + " on " + wanted.instance);
    const SeenPath seen = seen_path(wanted.mutant, wanted.distribution, PathInstance::parse(wanted.instance));
    EXPECT_EQ(seen.distribution.mass, 1);
    EXPECT_EQ(seen.first, normalised(wanted.output)) << to_text(seen.first);
    EXPECT_EQ(seen.distance, wanted.distance) << to_text(*seen.distance);
  }
}

TEST(SmallestPaths, AnUncappedProductAcceptsMoreThanAnyLosslessRule) {
  const PathInstance instance = PathInstance::parse(small_path);
  EXPECT_EQ(seen_path("hsd_repository", "iid_paths", instance).distribution.mean_accepted(), Rational(12, 9));
  EXPECT_EQ(seen_path("block", "iid_paths", instance).distribution.mean_accepted(), Rational(11, 9));
}

struct HiddenShape {
  int vocabulary, length, drafts;
  bool equal = false, conditionals = true;
  int least = 0;
};

PathInstance hidden_instance(int n, const HiddenShape& shape) {
  InstanceRng dice(815, static_cast<std::uint64_t>(n));
  PathInstance instance;
  instance.shape = {.drafts = shape.drafts, .length = shape.length, .branching = {}, .stem = 0};
  const auto add = [&](const Tokens& prefix) {
    PrefixWeights rows{weights_between(dice, shape.vocabulary, shape.least, 5),
                       weights_between(dice, shape.vocabulary, shape.least, 5)};
    if (shape.equal) rows.proposal = rows.target;
    instance.rows.emplace(prefix, std::move(rows));
  };
  add({});
  if (shape.conditionals)
    for (Token x = 0; x < shape.vocabulary; ++x) add({x});
  return instance;
}

void expect_hidden_paths(const std::vector<std::string>& mutants, const HiddenShape& shape) {
  for (const std::string& name : mutants)
    for (int n = 0; n < 24; ++n) {
      const PathInstance instance = hidden_instance(n, shape);
      const SeenPath seen = seen_path(name, "iid_paths", instance);
      EXPECT_EQ(seen.distance, Rational(0)) << name << " on " << instance.text();
    }
}

bool shows_on_paths(const std::string& mutant, const HiddenShape& shape) {
  for (int n = 0; n < 24; ++n)
    if (seen_path(mutant, "iid_paths", hidden_instance(n, shape)).distance != Rational(0)) return true;
  return false;
}

TEST(HiddenPathMutants, TwoTokens) {
  expect_hidden_paths({"block_token_residual"}, {.vocabulary = 2, .length = 3, .drafts = 1});
  EXPECT_TRUE(shows_on_paths("block_token_residual", {.vocabulary = 3, .length = 2, .drafts = 1}));
}

TEST(HiddenPathMutants, OneDraftedToken) {
  const HiddenShape shape{.vocabulary = 3, .length = 1, .drafts = 1};
  expect_hidden_paths({"block_token_residual", "block_clipped_tests", "hsd_repository", "greedy_block_without_carry",
                       "one_coin_for_all_positions"},
                      shape);
  EXPECT_TRUE(shows_on_paths("bonus_one_row_early", shape));
}

TEST(HiddenPathMutants, OnePath) {
  expect_hidden_paths({"gbv_unskewed", "gbv_ties_differ", "gbv_ties_opposed"},
                      {.vocabulary = 3, .length = 2, .drafts = 1});
}

TEST(HiddenPathMutants, EqualDistributions) {
  const HiddenShape shape{.vocabulary = 3, .length = 2, .drafts = 1, .equal = true};
  expect_hidden_paths({"block_token_residual", "block_clipped_tests", "hsd_repository", "greedy_block_without_carry",
                       "first_draft_unchecked_path", "resample_from_target_path"},
                      shape);
  const HiddenShape two{.vocabulary = 2, .length = 1, .drafts = 2, .equal = true};
  EXPECT_TRUE(shows_on_paths("gbv_unskewed", two));
  EXPECT_TRUE(shows_on_paths("gbv_ties_differ", two));
}

TEST(HiddenPathMutants, NoTies) {
  // Compares gbv_ties_differ with the correct greedy_multipath_block on instances in which the ratios p / q of the two
  // tokens differ after every prefix.
  int met = 0;
  for (int n = 0; n < 200; ++n) {
    const PathInstance instance = hidden_instance(n, {.vocabulary = 2, .length = 2, .drafts = 2, .least = 1});
    const auto tied = [](const auto& entry) {
      const auto &p = entry.second.target, &q = entry.second.proposal;
      return p[0] * q[1] == p[1] * q[0];
    };
    if (std::any_of(instance.rows.begin(), instance.rows.end(), tied)) continue;
    ++met;
    EXPECT_EQ(seen_path("gbv_ties_differ", "iid_paths", instance).distribution.emitted,
              seen_path("greedy_multipath_block", "iid_paths", instance).distribution.emitted)
        << instance.text();
    if (met == 24) return;
  }
  FAIL() << "only " << met << " instances without ties";
}

TEST(HiddenPathMutants, EqualRows) {
  const HiddenShape shape{.vocabulary = 3, .length = 2, .drafts = 1, .conditionals = false};
  expect_hidden_paths({"bonus_one_row_early"}, shape);
  // At L = 2 the bug of correction_one_row_late does not change the distribution of the first token.
  for (int n = 0; n < 24; ++n) {
    const PathInstance instance = hidden_instance(n, shape);
    EXPECT_EQ(seen_path("correction_one_row_late", "iid_paths", instance).first,
              normalised(instance.after({}).target))
        << instance.text();
  }
  EXPECT_TRUE(
      shows_on_paths("correction_one_row_late", {.vocabulary = 3, .length = 1, .drafts = 1, .conditionals = false}));
}

}  // namespace
}  // namespace draftproof
