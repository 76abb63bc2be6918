// Tests of selection policies: the instances worked by hand in docs/selection.md; the number of models with a biased
// output, for each kind of value that a choice reads; exact rules that look wrong; and the text of findings.
#include <algorithm>
#include <array>
#include <random>
#include <sstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <draftproof/properties/components/component_registry.hpp>
#include <draftproof/properties/components/selection/selection_group.hpp>

namespace draftproof {
namespace {

/// Returns the finding of a check of a registered policy on a case given as text.
Finding asked(std::string_view policy, std::string_view check, std::string_view text) {
  return examine_one(policy, check, text).value();
}

void expect_output(std::string_view policy, std::string_view text, std::string_view evidence) {
  const Finding finding = asked(policy, "output_distribution", text);
  EXPECT_EQ(finding.status, evidence.empty() ? Status::passed : Status::failed) << policy << ": " << finding.evidence;
  EXPECT_NE(finding.evidence.find(evidence), std::string::npos) << policy << ": " << finding.evidence;
  const bool anticipates = !evidence.empty();
  EXPECT_EQ(asked(policy, "non_anticipation", text).status, anticipates ? Status::failed : Status::passed) << policy;
}

TEST(SelectionPolicies, OwnConfidence) {
  constexpr auto text = "budget=1 | L=1 K=1 [] p=(7 3)/10 q=(1 1)/2 c=10 [1] p=(7 3)/10 q=(1 1)/2 c=0";
  expect_output(
      "chosen_token_confidence", text,
      "token_path: request 0: after [] got (17/20 3/20), expected (7/10 3/10), TV 3/20; reached with probability "
      "1; the choice depends on the confidence after position 1 of request 0; on this model the distribution is "
      "exact with "
      "sample_and_match_tree");
  expect_output("confidence_before_draft", text, "");
}

TEST(SelectionPolicies, LowDraftProbability) {
  constexpr auto text = "budget=1 | L=1 K=1 [] p=(1 1)/2 q=(3 1)/4";
  for (const auto wrong : {"low_probability_stop", "early_exit"})
    expect_output(wrong, text,
                  "after [] got (5/8 3/8), expected (1/2 1/2), TV 1/8; reached with probability 1; the choice "
                  "depends on the token at position 1 of request 0");
  expect_output("stop_after_low_probability", text, "");
}

TEST(SelectionPolicies, IllegalDrafts) {
  constexpr auto text = "budget=1 | L=1 K=1 [] p=(1 1 0)/2 q=(1 0 1)/2";
  for (const auto wrong : {"illegal_draft_trimmed", "illegal_draft_without_row"})
    expect_output(wrong, text, "after [] got (3/4 1/4 0), expected (1/2 1/2 0), TV 1/4");
  expect_output("illegal_drafts_kept", text, "");
  // On chains the two wrong policies make the same choices. On trees illegal_draft_trimmed is not defined, and
  // illegal_draft_without_row keeps the siblings of an illegal draft.
  constexpr auto tree = "budget=2 | L=1 K=2 [] p=(1 1 0)/2 q=(1 0 1)/2";
  EXPECT_EQ(asked("illegal_draft_trimmed", "output_distribution", tree).status, Status::skipped);
  expect_output("illegal_draft_without_row", tree, "recursive_rejection_wor_tree: request 0: after [] got (1 0 0)");
}

TEST(SelectionPolicies, ThroughputWithAndWithoutEarlyStop) {
  constexpr auto text =
      "budget=2 cost=(10 19 19) | L=2 K=1 [] p=(7 3)/10 q=(1 1)/2 c=5 [1] p=(7 3)/10 q=(1 1)/2 c=0 "
      "[0] p=(7 3)/10 q=(1 1)/2 c=10";
  expect_output(
      "throughput_argmax", text,
      "after [] got (17/20 3/20), expected (7/10 3/10), TV 3/20; reached with probability 1; the choice depends on "
      "the confidence after position 1 of request 0");
  expect_output("throughput_early_stop", text, "");
}

/// Drafts have confidence 1 where none is given. So after token 0 of request 0, the second draft ties with the first
/// drafts of both requests, and a wrong policy may keep it in place of one of them.
TEST(SelectionPolicies, TiesInAnyOrder) {
  constexpr auto text =
      "budget=1 | L=2 K=1 [] p=(1 1)/2 q=(1 1)/2 [1] p=(1 1)/2 q=(1 1)/2 c=0 | L=1 K=1 [] p=(1 1)/2 q=(1 1)/2";
  expect_output(
      "topk_open_ties", text,
      "request 0: after [] got (5/8 3/8), expected (1/2 1/2), TV 1/8; reached with probability 1; the choice "
      "depends on the confidence after position 1 of request 0");
  expect_output("survival_ranking", text, "");
}

TEST(SelectionPolicies, TheLag) {
  constexpr auto text =
      "budget=1 | L=1 K=1 [] p=(7 3)/10 q=(1 1)/2 [1] p=(7 3)/10 q=(1 1)/2 c=0 past=(3) | "
      "L=1 K=1 [] p=(1 1)/2 q=(1 1)/2 [0] p=(1 1)/2 q=(1 1)/2 c=5 past=(5)";
  expect_output("lag_removed", text, "the choice depends on the confidence after position 1 of request 0");
  expect_output("lagged_budget", text, "");
}

TEST(SelectionPolicies, RerankedTree) {
  constexpr auto text = "budget=1 | L=1 K=2 [] p=(1 1)/2 q=(3 1)/4";
  expect_output("reranked_nodes", text, "recursive_rejection_wor_tree: request 0: after [] got (2/3 1/3)");
  expect_output("reranked_nodes", text, "keeps some without siblings that were drawn before them");
  expect_output("survival_ranking", text, "");
}

/// The policy reads drawn tokens, which is right for sample-and-match only, so the check of anticipation is skipped.
TEST(SelectionPolicies, LowTailIsForMatchingAlone) {
  constexpr auto text = "budget=2 | L=2 K=1 [] p=(1 1)/2 q=(3 1)/4";
  EXPECT_EQ(asked("low_tail_before_matching", "output_distribution", text).status, Status::passed);
  const Finding skipped = asked("low_tail_before_matching", "non_anticipation", text);
  EXPECT_EQ(skipped.status, Status::skipped);
  EXPECT_NE(skipped.evidence.find("sample-and-match only"), std::string::npos);
}

// Tests the number of biased models among 60 with V = 3, L = 2, by the token that the choice reads and by the time at
// which it takes effect. The models come from Python's random.Random(seed), seed 0 .. 59: rows of randint(0, 5), P and
// Q in turn, by prefix.

/// Python's random.Random(seed): MT19937, seeded by an array of one 32-bit integer.
class PythonRandom {
 public:
  explicit PythonRandom(std::uint32_t seed) {
    state_[0] = 19650218u;
    for (std::uint32_t i = 1; i < size; ++i) state_[i] = 1812433253u * mixed(i - 1) + i;
    std::uint32_t i = 1;
    for (std::uint32_t k = 0; k < size; ++k) {
      state_[i] = (state_[i] ^ (mixed(i - 1) * 1664525u)) + seed;
      if (++i == size) state_[0] = state_[size - 1], i = 1;
    }
    for (std::uint32_t k = 1; k < size; ++k) {
      state_[i] = (state_[i] ^ (mixed(i - 1) * 1566083941u)) - i;
      if (++i == size) state_[0] = state_[size - 1], i = 1;
    }
    state_[0] = 0x80000000u;
    std::string text;
    for (const std::uint32_t word : state_) text += std::to_string(word) + ' ';
    std::istringstream(text + std::to_string(size)) >> words_;
  }
  /// Returns randint(0, 5).
  int up_to_five() {
    std::uint32_t value = 6;
    while (value > 5) value = static_cast<std::uint32_t>(words_()) >> 29;
    return static_cast<int>(value);
  }

 private:
  static constexpr std::uint32_t size = 624;
  std::uint32_t mixed(std::uint32_t i) const { return state_[i] ^ (state_[i] >> 30); }

  std::array<std::uint32_t, size> state_{};
  std::mt19937 words_;
};

SelectionCase model_of_table(std::uint32_t seed) {
  PythonRandom random(seed);
  const auto row = [&random] {
    std::vector<int> weights(3);
    while (weights == std::vector<int>(3))
      for (int& weight : weights) weight = random.up_to_five();
    return weights;
  };
  SelectionCase one{.budget = 2, .cost = {}, .requests = {{}}};
  PathInstance& model = one.requests[0].model;
  model.shape.length = 2;
  for (Tokens& prefix : prefixes_up_to(3, 2)) {
    PrefixWeights rows;
    rows.target = row();
    rows.proposal = row();
    model.rows.emplace(std::move(prefix), std::move(rows));
  }
  return one;
}

enum class Reads { earlier, own, later };

/// Drops all drafts from the first for which it reads token 1. If it reads a later token, it keeps all drafts or no
/// draft.
template <Reads reads, SelectionCut when>
struct OfTable : SelectionPolicy {
  static constexpr ComponentInfo info{.name = "of_table", .summary = "", .source = ""};
  static constexpr SelectionCut cut = when;
  static constexpr bool trees = false;

  template <class S>
  bool keeps(const DraftedRequest<S>& request, int u) const {
    const int read = reads == Reads::earlier ? u - 1 : reads == Reads::own ? u : request.size() - 1;
    return request.token[static_cast<std::size_t>(read)] != 1;
  }
};

template <Reads reads, SelectionCut when>
void expect_biased(const std::array<int, 3>& of_sixty) {
  const SelectionRule policy = selection_rule<OfTable<reads, when>>();
  std::array<int, 3> biased{};
  int anticipating = 0;
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    const SelectionCase one = model_of_table(seed);
    SelectionAnalysis at(policy, one);
    const bool anticipates = at.anticipation().has_value();
    anticipating += anticipates;
    for (const VerifyRule rule : all_verify_rules) {
      const bool wrong = at.wrong_output(rule).has_value();
      biased[static_cast<std::size_t>(rule)] += wrong;
      EXPECT_TRUE(anticipates || !wrong) << one.text();
    }
  }
  EXPECT_EQ(biased, of_sixty) << static_cast<int>(reads) << " " << static_cast<int>(when);
  EXPECT_EQ(anticipating > 0, of_sixty[0] > 0);
}

TEST(SelectionTable, SixtyModels) {
  using enum SelectionCut;
  expect_biased<Reads::earlier, before_verification>({0, 0, 0});
  expect_biased<Reads::earlier, after>({0, 0, 0});
  expect_biased<Reads::earlier, after_with_token>({0, 0, 0});
  expect_biased<Reads::own, before_verification>({55, 55, 0});
  expect_biased<Reads::own, after>({55, 55, 0});
  expect_biased<Reads::own, after_with_token>({0, 0, 0});
  expect_biased<Reads::later, before_verification>({53, 53, 0});
  expect_biased<Reads::later, after>({53, 53, 0});
  expect_biased<Reads::later, after_with_token>({50, 50, 0});
}

/// Keeps the draft of each request if the other request's draft is token 0. Each request alone has the right
/// distribution, but the two requests are not independent.
struct KeptByTheOther : SelectionPolicy {
  static constexpr ComponentInfo info{.name = "kept_by_the_other", .summary = "", .source = ""};

  template <class S, class R>
  KeptDrafts keep(const SelectionView<S>& view, R&) const {
    KeptDrafts kept = no_drafts(view);
    for (std::size_t r = 0; r < 2; ++r) kept[r][1] = view.requests[1 - r].token[1] == 0;
    return kept;
  }
};

TEST(SelectionPolicies, RequestsMustBeIndependent) {
  const SelectionCase one =
      SelectionCase::parse("budget=1 | L=1 K=1 [] p=(3 1)/4 q=(1 1)/2 | L=1 K=1 [] p=(3 1)/4 q=(1 1)/2");
  const SelectionRule policy = selection_rule<KeptByTheOther>();
  SelectionAnalysis at(policy, one);
  EXPECT_FALSE(at.anticipation());
  EXPECT_EQ(at.wrong_output(VerifyRule::token).value_or(""),
            "each request has the right distribution but they are not independent: TV 1/32 between their joint "
            "outputs and the product of the targets");
  EXPECT_FALSE(at.wrong_output(VerifyRule::matching));
}

TEST(SelectionPolicies, SiblingsAreRankedInDrawOrder) {
  DraftedRequest<double> request;
  request.parent = {0, 0, 0, 1, 2, 2};
  std::vector<int> ranks;
  for (int u = 1; u < request.size(); ++u) ranks.push_back(request.rank(u));
  EXPECT_EQ(ranks, (std::vector<int>{0, 1, 0, 0, 1}));
}

struct ChildWithoutParent : SelectionPolicy {
  static constexpr ComponentInfo info{.name = "child_without_parent", .summary = "", .source = ""};

  template <class S, class R>
  KeptDrafts keep(const SelectionView<S>& view, R&) const {
    KeptDrafts kept = no_drafts(view);
    kept[0].back() = true;
    return kept;
  }
};

TEST(SelectionPolicies, KeptDraftsAreClosed) {
  component_registry();  // registers the checks
  const ComponentOf<SelectionGroup> policy(selection_rule<ChildWithoutParent>(), Kind::mutant);
  const auto finding = *policy.examine_one("output_distribution", "budget=1 | L=2 K=1 [] p=(1)/1 q=(1)/1");
  EXPECT_EQ(finding.status, Status::failed);
  EXPECT_EQ(finding.evidence, "draft 2 of request 0 is kept without the draft before it");
}

/// Tests that every wrong policy is refuted on a model of at most three tokens and two drafts per request, and that the
/// evidence names the value on which the choice depends.
TEST(SelectionPolicies, WrongOnesAreRefutedOnSmallModels) {
  int wrong = 0;
  for (const auto& component : component_registry().components()) {
    if (component->group() != "selection" || component->kind() != Kind::mutant) continue;
    ++wrong;
    for (const Finding& finding : component->examine({})) {
      ASSERT_EQ(finding.status, Status::failed) << component->info().name << ", " << finding.property;
      const SelectionCase one = SelectionCase::parse(finding.instance);
      EXPECT_LE(one.requests.size(), 2u) << finding.instance;
      for (const SelectionCaseRequest& request : one.requests) {
        EXPECT_LE(request.model.vocabulary(), 3) << finding.instance;
        EXPECT_LE(request.model.shape.length, 2) << finding.instance;
      }
      if (finding.property == "output_distribution") {
        EXPECT_NE(finding.evidence.find("the choice depends on the "), std::string::npos) << finding.evidence;
        EXPECT_NE(finding.evidence.find("sample_and_match_tree"), std::string::npos) << finding.evidence;
      }
    }
  }
  EXPECT_GE(wrong, 9);
}

TEST(SelectionPolicies, TheRerankingIsFoundOnTreesAlone) {
  int trees = 0, refuted = 0;
  for (const SelectionCase& one : SelectionGroup::cases(1, 1)) {
    if (one.chains()) continue;
    ++trees;
    refuted += asked("reranked_nodes", "output_distribution", one.text()).status == Status::failed;
  }
  EXPECT_GE(trees, 40);
  EXPECT_GE(refuted, trees / 10);
}

TEST(SelectionPolicies, RightOnesHoldOnAThousandModels) {
  constexpr int rounds = 5;
  const std::vector<SelectionCase> cases = SelectionGroup::cases(11, rounds);
  ASSERT_GE(cases.size(), 1000u);
  int right = 0;
  for (const auto& component : component_registry().components()) {
    if (component->group() != "selection" || component->kind() != Kind::verifier) continue;
    ++right;
    for (const Finding& finding : component->examine({.seed = 11, .rounds = rounds})) {
      const bool alone =
          component->info().name == "low_tail_before_matching" && finding.property == "non_anticipation";
      EXPECT_EQ(finding.status, alone ? Status::skipped : Status::passed)
          << component->info().name << ": " << finding.evidence << "\n"
          << finding.instance;
      EXPECT_TRUE(alone || finding.work > cases.size()) << component->info().name;
    }
  }
  EXPECT_GE(right, 11);
}

TEST(SelectionCases, TextIsReadBack) {
  for (const SelectionCase& one : SelectionGroup::cases(7, 1)) {
    ASSERT_TRUE(one.valid()) << one.text();
    EXPECT_EQ(SelectionCase::parse(one.text()), one);
    for (const SelectionCase& smaller : shrinks(one)) ASSERT_TRUE(smaller.valid()) << smaller.text();
  }
  const std::string rows = " [] p=(1 1)/2 q=(1 1)/2";
  for (const std::string& text : std::initializer_list<std::string>{
           "budget=1", "budget=1 |", "budget=1 | L=1 K=1" + rows + " c=11",
           "budget=1 | L=1 K=1" + rows + " past=(1 1)", "budget=1 | L=1 K=1" + rows + " accepted=2",
           "budget=1 cost=(0) | L=1 K=1" + rows, "budget=1 | L=1 K=2 [] p=(1 1)/2 q=(1 0)/1",
           "cost=(10) | L=1 K=1" + rows})
    EXPECT_THROW(SelectionCase::parse(text), std::invalid_argument) << text;
}

}  // namespace
}  // namespace draftproof
