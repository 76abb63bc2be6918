// Compares the best selection policies with all policies of small models, and tests the survey of policies against
// them.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/optimum/exact/rational.hpp>
#include <draftproof/properties/components/component_registry.hpp>
#include <draftproof/properties/components/selection/selection_group.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/survey/path_survey.hpp>
#include <draftproof/properties/survey/policy_survey.hpp>
#include <draftproof/properties/survey/selection_bound.hpp>
#include <draftproof/sim/random/philox.hpp>

namespace draftproof {
namespace {

using Contexts = DraftedContexts<Rational>;
using Point = SelectionPoint<Rational>;

/// Returns a model of all prefixes of at most `length` tokens, in breadth-first order. Each next token has a random
/// probability of being drafted and a random acceptance probability.
Contexts random_contexts(std::uint64_t seed, int vocabulary, int length) {
  Philox random(seed, 0, Philox::Role::draft);
  const auto number = [&random](int bound) {
    return static_cast<int>(scale(random.next(Purpose::pick), static_cast<std::uint64_t>(bound)));
  };
  Contexts contexts;
  std::vector<int> level{0};
  int next = 1;
  for (int depth = 0; depth <= length; ++depth) {
    std::vector<int> deeper;
    for ([[maybe_unused]] const int context : level) {
      auto& drafts = contexts.drafts.emplace_back();
      if (depth == length) continue;
      std::vector<int> weights;
      int sum = 0;
      for (int x = 0; x < vocabulary; ++x) sum += weights.emplace_back(1 + number(4));
      for (int x = 0; x < vocabulary; ++x) {
        drafts.push_back({Rational(weights[static_cast<std::size_t>(x)], sum), Rational(number(5), 4), next});
        deeper.push_back(next++);
      }
    }
    level = std::move(deeper);
  }
  return contexts;
}

/// Returns the points (verified, accepted) of all non-anticipating policies: at every prefix a policy either verifies
/// the next draft or stops.
std::vector<Point> all_policies(const Contexts& contexts, int context, int length, const Rational& probability,
                                const Rational& accepted) {
  std::vector<Point> points{{}};
  if (length == 0) return points;
  std::vector<Point> kept{{probability, Rational(0)}};
  for (const auto& draft : contexts.drafts[static_cast<std::size_t>(context)]) {
    const Rational drawn = probability * draft.share, both = accepted * draft.accepted;
    std::vector<Point> combined;
    for (const Point& before : kept)
      for (const Point& after : all_policies(contexts, draft.context, length - 1, drawn, both))
        combined.push_back({before.verified + after.verified, before.accepted + drawn * both + after.accepted});
    kept = std::move(combined);
  }
  points.insert(points.end(), kept.begin(), kept.end());
  return points;
}

/// Returns the largest mean number of accepted drafts over random choices between two policies that verify `verified`
/// drafts on average.
Rational best_mixture(const std::vector<Point>& policies, const Rational& verified) {
  Rational best(0);
  for (const Point& a : policies)
    for (const Point& b : policies) {
      if (verified < a.verified || b.verified < verified) continue;
      const Rational share =
          a.verified < b.verified ? Rational((verified - a.verified) / (b.verified - a.verified)) : Rational(0);
      best = std::max<Rational>(best, a.accepted + share * (b.accepted - a.accepted));
    }
  return best;
}

TEST(SelectionBound, IsTheBestOfAllPolicies) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const int vocabulary = 2 + static_cast<int>(seed % 2), length = vocabulary == 2 ? 3 : 2;
    const Contexts contexts = random_contexts(seed, vocabulary, length);
    const std::vector<Point> policies = all_policies(contexts, 0, length, Rational(1), Rational(1));
    ASSERT_GE(policies.size(), 9u);
    const SelectionBound<Rational> bound(contexts, {{0, Rational(1)}}, length);
    const Rational most = std::max_element(policies.begin(), policies.end(), [](const auto& a, const auto& b) {
                            return a.accepted < b.accepted;
                          })->accepted;
    for (int eighths = 0; eighths <= 8 * length; ++eighths) {
      const Rational verified(eighths, 8);
      const SelectionCertificate<Rational> found = bound.at(verified);
      // If more drafts are allowed than the best policy verifies, the bound is constant: a policy may verify fewer.
      const Rational expected = verified < found.more.verified ? best_mixture(policies, verified) : most;
      EXPECT_EQ(found.bound, expected) << "seed " << seed << ", " << eighths << "/8 verified drafts";
      // The certificate is valid: no policy lies above the line whose slope is the price, and the two policies of the
      // certificate exist and lie on the line.
      if (!(verified < found.more.verified)) continue;
      const Rational value = found.bound - found.price * verified;
      const auto exists = [&](const Point& one) {
        return std::any_of(policies.begin(), policies.end(), [&](const Point& policy) {
          return policy.verified == one.verified && policy.accepted == one.accepted;
        });
      };
      for (const Point& policy : policies) EXPECT_LE(policy.accepted - found.price * policy.verified, value);
      for (const Point& end : {found.fewer, found.more}) {
        EXPECT_TRUE(exists(end));
        EXPECT_EQ(end.accepted - found.price * end.verified, value);
      }
      EXPECT_LE(found.fewer.verified, verified);
    }
  }
}

TEST(SelectionBound, ByHand) {
  // p = (7 3)/10 and q = (1 1)/2 after every prefix: draft 0 is always accepted, draft 1 with probability 3/5.
  Contexts contexts;
  contexts.drafts.push_back({{Rational(1, 2), Rational(1), 0}, {Rational(1, 2), Rational(3, 5), 0}});
  const SelectionBound<Rational> bound(contexts, {{0, Rational(1)}}, 2);
  EXPECT_EQ(bound.at(Rational(1)).bound, Rational(4, 5));
  EXPECT_EQ(bound.at(Rational(3, 2)).bound, Rational(6, 5));  // verifies the second draft only after token 0
  // The best mixture chooses this policy or the policy that verifies both drafts, each with probability 1/2.
  EXPECT_EQ(bound.at(Rational(7, 4)).bound, Rational(33, 25));
  EXPECT_EQ(bound.at(Rational(2)).bound, Rational(36, 25));
  EXPECT_EQ(bound.at(Rational(5)).bound, Rational(36, 25));
}

const std::string captures = std::string(DRAFTPROOF_SOURCE_DIR) + "/data/";

PolicySurvey surveyed(const std::string& spec, const PolicySurveyOptions& options) {
  registry();  // registers the families of rows
  return survey_policies(*PathSource::open(spec, {}), options);
}

const PolicyRow& row_named(const PolicySurvey& survey, std::string_view name) {
  return *std::find_if(survey.rows.begin(), survey.rows.end(),
                       [&](const PolicyRow& row) { return row.policy->info().name == name; });
}

TEST(PolicySurvey, NoExactPolicyIsAboveTheBest) {
  int compared = 0;
  for (const std::string spec : {"zipf:vocabulary=4,positions=5", "gaussian_logits:vocabulary=5,positions=7"})
    for (const ConfidenceHead head : {ConfidenceHead::overlap, ConfidenceHead::largest}) {
      const PolicySurvey survey =
          surveyed(spec, {.requests = 3, .length = 3, .batches = 8192, .cost = {10, 11, 13, 16, 20}, .head = head});
      EXPECT_EQ(survey.batches, 8192u);
      EXPECT_EQ(survey.requests, 3 * 8192u);
      for (const PolicyRow& row : survey.rows) {
        EXPECT_LE(row.tally.accepted, row.tally.verified);
        EXPECT_LE(row.tally.emitted, row.tally.accepted + survey.requests);
        if (!row.best) continue;
        ++compared;
        // A mean exceeds its expectation by six standard errors by chance in one of 10^9 rows.
        EXPECT_LE(survey.per_request(row.tally.accepted), *row.best + 6 * survey.standard_error(row.tally))
            << row.policy->info().name << " on " << spec;
      }
    }
  EXPECT_GE(compared, 30);
}

TEST(PolicySurvey, AllDraftsAreTokenVerification) {
  registry();
  for (const std::string& spec : {std::string("zipf:vocabulary=4,positions=5"), captures + "stories512_trees.npz"}) {
    const auto source = PathSource::open(spec, {});
    const PolicySurvey survey = survey_policies(
        *source, {.requests = 2, .length = 3, .batches = 1 << 14, .policies = {"illegal_drafts_kept"}});
    const PolicyRow& all = survey.rows.at(0);
    EXPECT_EQ(all.tally.verified, 3 * survey.requests);
    const double accepted = survey.per_request(all.tally.accepted), error = survey.standard_error(all.tally);
    EXPECT_NEAR(accepted, all.best.value(), 6 * error) << spec;
    if (!source->stored_trees()) continue;  // survey_paths starts in other contexts
    const auto rows =
        survey_paths(*source, {.drafts = {1}, .length = 3, .steps = 1 << 15, .verifiers = {"token_path"}});
    EXPECT_NEAR(accepted, rows.at(0).tally.mean_accepted(), 6 * (error + rows.at(0).tally.error_of_trials())) << spec;
  }
}

/// All rows are p = (7 3)/10 and q = (1 1)/2, so the overlap is 4/5 and the largest entry of q is 1/2.
TEST(PolicySurvey, ConfidencesOfTheStepAndOfTheStepBefore) {
  const std::string source = "bernoulli:target=0.7,draft=0.5";
  const std::vector<std::string> asked{"confidence_before_draft", "row_maximum", "past_acceptance"};
  const PolicySurvey overlap = surveyed(source, {.requests = 1, .length = 2, .batches = 4096, .policies = asked});
  // The confidence is 4/5, so the policy keeps both drafts. Both are accepted with probability 16/25, and exactly one
  // with 4/25.
  const PolicyRow& confident = row_named(overlap, "confidence_before_draft");
  EXPECT_EQ(confident.tally.verified, 2 * overlap.requests);
  EXPECT_NEAR(overlap.per_request(confident.tally.accepted), 36.0 / 25, 6 * overlap.standard_error(confident.tally));
  EXPECT_NEAR(confident.best.value(), 36.0 / 25, 1e-12);
  // If the step before accepted no draft, which has probability 1/5, one draft is verified, else two. The mean number
  // of accepted drafts is 4/5 if one draft is verified, and 36/25 if two are.
  const PolicyRow& past = row_named(overlap, "past_acceptance");
  EXPECT_NEAR(overlap.per_request(past.tally.verified), 9.0 / 5, 6 * 0.4 / 64);
  EXPECT_NEAR(overlap.per_request(past.tally.accepted), 1.0 / 5 * 4 / 5 + 4.0 / 5 * 36 / 25,
              6 * overlap.standard_error(past.tally));
  // The best policy omits the second draft after token 1, which is accepted with probability 3/5.
  EXPECT_NEAR(past.best.value(),
              6.0 / 5 + (overlap.per_request(past.tally.verified) - 1.5) * 2 * (36.0 / 25 - 6.0 / 5), 1e-9);
  const PolicySurvey largest =
      surveyed("bernoulli:target=0.9,draft=0.3",
               {.requests = 1, .length = 1, .batches = 64, .head = ConfidenceHead::largest, .policies = {asked[0]}});
  EXPECT_EQ(largest.rows[0].tally.verified, largest.requests) << "the largest entry of q is 7/10";
  const PolicySurvey smaller =
      surveyed("bernoulli:target=0.9,draft=0.3", {.requests = 1, .length = 1, .batches = 64, .policies = {asked[0]}});
  EXPECT_EQ(smaller.rows[0].tally.verified, 0u) << "the overlap is 4/10";
}

TEST(PolicySurvey, BudgetsAreKept) {
  const PolicySurvey survey = surveyed(captures + "stories512_trees.npz",
                                       {.requests = 4, .length = 4, .budget = 5, .batches = 4096, .mutants = true});
  for (const std::string_view name : {"survival_ranking", "throughput_early_stop", "lagged_budget", "topk_open_ties"})
    EXPECT_LE(row_named(survey, name).tally.verified, 5 * survey.batches) << name;
  // By default the cost of a call does not depend on the number of drafts, so throughput is largest with all drafts
  // that the budget allows.
  EXPECT_EQ(row_named(survey, "survival_ranking").tally.verified, 5 * survey.batches);
  EXPECT_EQ(row_named(survey, "throughput_early_stop").tally.accepted,
            row_named(survey, "survival_ranking").tally.accepted);
  // Confidences of this step predict acceptance better than confidences of the step before.
  EXPECT_GT(row_named(survey, "survival_ranking").tally.accepted, row_named(survey, "lagged_budget").tally.accepted);
}

TEST(PolicySurvey, PoliciesThatCutTheOutputVerifyAllDrafts) {
  const PolicySurvey survey =
      surveyed(captures + "stories512_trees.npz", {.requests = 2, .length = 3, .batches = 1024});
  const PolicyRow& cap = row_named(survey, "confident_cap");
  EXPECT_EQ(cap.tally.verified, 3 * survey.requests);
  EXPECT_FALSE(cap.best);
  EXPECT_EQ(cap.tally.emitted, cap.tally.accepted + survey.requests);
  const PolicyRow& matching = row_named(survey, "low_tail_before_matching");
  EXPECT_EQ(matching.rule, VerifyRule::matching);
  EXPECT_FALSE(matching.best);
  EXPECT_GT(matching.tally.accepted, 0u);
}

/// The policy that keeps all drafts has the acceptance of survey_paths for each verifier.
TEST(PolicySurvey, EachVerifierIsThatOfPaths) {
  registry();
  const auto source = PathSource::open(captures + "stories512_trees.npz", {});
  const PolicySurvey survey =
      survey_policies(*source, {.requests = 2,
                                .length = 4,
                                .batches = 1 << 13,
                                .policies = {"illegal_drafts_kept", "low_tail_before_matching"},
                                .rules = {VerifyRule::token, VerifyRule::block, VerifyRule::matching}});
  ASSERT_EQ(survey.rows.size(), 4u) << "one row for each verifier, and one for the policy of sample-and-match";
  const auto rows = survey_paths(
      *source,
      {.drafts = {1}, .length = 4, .steps = 1 << 14, .verifiers = {"token_path", "block", "sample_and_match_tree"}});
  int compared = 0;
  for (const PolicyRow& row : survey.rows)
    for (const StepRow& other : rows) {
      if (row.policy->info().name != "illegal_drafts_kept") continue;
      if (other.verifier->info().name != verifier_of(row.rule, true)) continue;
      ++compared;
      const double error = survey.standard_error(row.tally) + other.tally.error_of_trials();
      EXPECT_NEAR(survey.per_request(row.tally.accepted), other.tally.mean_accepted(), 6 * error)
          << other.verifier->info().name;
      EXPECT_EQ(row.best.has_value(), row.rule == VerifyRule::token);
    }
  EXPECT_EQ(compared, 3);
  EXPECT_GT(survey.rows[1].tally.accepted, survey.rows[0].tally.accepted) << "block accepts more than single tests";
}

/// The budget keeps one of three drafts, and a block of one draft is a single test.
TEST(PolicySurvey, ABlockOfOneDraftIsASingleTest) {
  const PolicySurvey survey =
      surveyed("bernoulli:target=0.7,draft=0.5", {.requests = 1,
                                                  .length = 3,
                                                  .budget = 1,
                                                  .batches = 1 << 14,
                                                  .policies = {"survival_ranking"},
                                                  .rules = {VerifyRule::token, VerifyRule::block}});
  for (const PolicyRow& row : survey.rows) {
    EXPECT_EQ(row.tally.verified, survey.batches);
    EXPECT_NEAR(survey.per_request(row.tally.accepted), 0.8, 6 * 0.4 / 128);
  }
}

TEST(PolicySurvey, SizesOfSteps) {
  using Sizes = std::map<StepSize, std::uint64_t>;
  const auto sizes = [](const std::string& source, std::string_view policy, int requests, int budget) {
    const PolicySurvey survey = surveyed(
        source,
        {.requests = requests, .length = 2, .budget = budget, .batches = 4096, .policies = {std::string(policy)}});
    return survey.rows.at(0).tally.sizes;
  };
  // The overlap is 4/10, so no draft is kept; one pass computes the row that decides this.
  EXPECT_EQ(sizes("bernoulli:target=0.9,draft=0.3", "confidence_before_draft", 2, 4), (Sizes{{{1, 0, 0}, 4096}}));
  // The overlap is 4/5 and the budget one draft: the pass after the first draft gives the confidence of the second.
  EXPECT_EQ(sizes("bernoulli:target=0.7,draft=0.5", "survival_ranking", 1, 1), (Sizes{{{2, 1, 1}, 4096}}));
  EXPECT_EQ(sizes("bernoulli:target=0.7,draft=0.5", "survival_ranking", 2, 3), (Sizes{{{2, 2, 3}, 4096}}));
  // The output is cut after all drafts are verified.
  EXPECT_EQ(sizes("bernoulli:target=0.9,draft=0.3", "confident_cap", 2, 4), (Sizes{{{2, 2, 4}, 4096}}));
  // Token 1 has q = 1/5. If it is the first draft, the policy stops without the row after it.
  const Sizes stopped = sizes("bernoulli:target=0.7,draft=0.2", "stop_after_low_probability", 1, 2);
  ASSERT_EQ(stopped.size(), 2u);
  EXPECT_NEAR(static_cast<double>(stopped.at({1, 1, 1})) / 4096, 0.2, 6 * 0.4 / 64);
  EXPECT_EQ(stopped.at({1, 1, 1}) + stopped.at({2, 2, 2}), 4096u);
  // Two requests: the longest decides about the passes.
  const Sizes both = sizes("bernoulli:target=0.7,draft=0.2", "stop_after_low_probability", 2, 4);
  EXPECT_NEAR(static_cast<double>(both.at({2, 2, 3})) / 4096, 0.32, 6 * 0.47 / 64);
  // This policy reads the last token before it decides about the first draft.
  for (const auto& [size, batches] : sizes("bernoulli:target=0.7,draft=0.2", "low_tail_before_matching", 1, 2))
    EXPECT_EQ(size.passes, 2) << batches;
}

/// Whether a policy keeps other drafts if `change` changes its view, in one of 200 random batches. Only the decisions
/// about drafts after node `after` are compared, by whether draft after + 1 is kept.
bool depends(const SelectionRule& policy, int after, const std::function<void(SelectionView<double>&)>& change) {
  constexpr int length = 3;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Philox random(seed, 0, Philox::Role::draft);
    const auto number = [&random] { return static_cast<double>(scale(random.next(Purpose::pick), 101)) / 100; };
    std::vector<std::array<double, 3>> rows(2 * length);
    const std::array<std::uint8_t, 3> legal{1, 1, 1};
    SelectionView<double> view{.requests = {}, .budget = 2, .cost = {1, 1.3, 1.7, 2.1, 2.5, 3.0, 3.6}};
    for (std::size_t r = 0; r < 2; ++r) {
      DraftedRequest<double> request{.parent = {0},
                                     .depth = {0},
                                     .token = {no_token},
                                     .row = {},
                                     .legal = {},
                                     .confidence = {number()},
                                     .accepted = static_cast<int>(4 * number()) % 4};
      for (int u = 1; u <= length; ++u) {
        auto& row = rows[r * length + static_cast<std::size_t>(u) - 1];
        row[0] = number();
        row[1] = (1 - row[0]) * number();
        row[2] = 1 - row[0] - row[1];
        request.row.emplace_back(row);
        request.legal.emplace_back(legal);
        request.parent.push_back(u - 1);
        request.depth.push_back(u);
        request.token.push_back(number() < 0.5 ? 0 : 1);
        request.confidence.push_back(number());
        request.past_confidence.push_back(number());
      }
      request.row.emplace_back();
      request.legal.emplace_back();
      view.requests.push_back(std::move(request));
    }
    const auto kept = [&] {
      const KeptDrafts found = policy.keep_simulated(view, random);
      return std::pair(found[0][static_cast<std::size_t>(after) + 1], found[1][static_cast<std::size_t>(after) + 1]);
    };
    const auto before = kept();
    change(view);
    if (kept() != before) return true;
  }
  return false;
}

/// The choices of a policy depend on the past, and on the row before a draft, if and only if the policy declares it.
TEST(PolicySurvey, PoliciesReadWhatTheyDeclare) {
  registry();
  const std::array<double, 3> sharp{0.95, 0.03, 0.02}, flat{0.35, 0.33, 0.32};
  const auto past = [](SelectionView<double>& view) {
    view.requests[0].accepted = 3 - view.requests[0].accepted;
    std::swap(view.requests[0].past_confidence, view.requests[1].past_confidence);
  };
  int checked = 0;
  for (const PolicyRow& row : plan_policies({})) {
    const SelectionRule& policy = dynamic_cast<const ComponentOf<SelectionGroup>&>(*row.policy).subject();
    ++checked;
    bool reads_past = false, reads_row = false;
    for (const int after : {0, 1}) {
      reads_past |= depends(policy, after, past);
      for (const auto& row_after : {sharp, flat})
        reads_row |= depends(policy, after, [&](SelectionView<double>& view) {
          const auto u = static_cast<std::size_t>(after);
          view.requests[0].row[u] = row_after;
          view.requests[0].confidence[u] = row_after[0] > 0.9 ? 1 : 0;
        });
    }
    EXPECT_EQ(policy.reads_past, reads_past) << policy.info().name;
    if (policy.cut != SelectionCut::before_verification || policy.matching_alone) continue;  // reads all drafts
    EXPECT_EQ(policy.reads_row, reads_row) << policy.info().name;
  }
  EXPECT_EQ(checked, 11);
}

TEST(PolicySurvey, IsTheSameForAnyThreads) {
  for (const std::string& spec : {std::string("zipf:vocabulary=4,positions=5"), captures + "stories512_trees.npz",
                                  captures + "stories260k.bin:q4"}) {
    const std::uint64_t batches = spec.ends_with("q4") ? 12 : 300;
    const PolicySurvey one = surveyed(spec, {.length = 3, .batches = batches, .mutants = true, .threads = 1});
    const PolicySurvey many = surveyed(spec, {.length = 3, .batches = batches, .mutants = true, .threads = 3});
    ASSERT_EQ(one.rows.size(), many.rows.size());
    for (std::size_t i = 0; i < one.rows.size(); ++i) {
      EXPECT_EQ(one.rows[i].tally.accepted, many.rows[i].tally.accepted) << spec;
      EXPECT_EQ(one.rows[i].tally.accepted_squared, many.rows[i].tally.accepted_squared) << spec;
      EXPECT_EQ(one.rows[i].tally.emitted, many.rows[i].tally.emitted) << spec;
      EXPECT_EQ(one.rows[i].tally.verified, many.rows[i].tally.verified) << spec;
      EXPECT_EQ(one.rows[i].best, many.rows[i].best) << spec;
    }
    EXPECT_GT(one.rows[0].tally.verified, 0u) << spec;
  }
}

TEST(PolicySurvey, RefusesUnknownNamesAndLengths) {
  EXPECT_THROW(surveyed("zipf:vocabulary=4", {.policies = {"no_such_policy"}}), InputError);
  EXPECT_THROW(surveyed(captures + "stories512_trees.npz", {.length = 60}), InputError);
}

}  // namespace
}  // namespace draftproof
