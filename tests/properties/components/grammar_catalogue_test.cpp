// Tests of grammar components: wrong components on small models by hand, a grammar of three states on chains and trees,
// correct components on many models, and automata of regular expressions.
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/properties/components/component_registry.hpp>
#include <draftproof/properties/components/grammar/grammar_group.hpp>
#include <draftproof/verifiers/mutants/components/grammar/wrong_masks.hpp>

namespace draftproof {
namespace {

/// Expects that a registered component fails a check on a case given as text, with `evidence` in its answer, or passes
/// if `evidence` is "".
void expect_answer(std::string_view component, std::string_view check, std::string_view text,
                   std::string_view evidence) {
  const Finding finding = examine_one(component, check, text).value();
  EXPECT_EQ(finding.status, evidence.empty() ? Status::passed : Status::failed)
      << component << " on " << text << ": " << finding.evidence;
  EXPECT_NE(finding.evidence.find(evidence), std::string::npos) << component << ": " << finding.evidence;
}

/// Token 1 may follow only token 0, and is forbidden at the start. So after draft 0 any bonus token is allowed, while
/// the mask of the row before allows only token 0.
TEST(Grammars, MasksOfWrongRows) {
  constexpr auto text = "next=(2 0),(2 1) state=1 | L=1 K=1 [] p=(1 1)/2 q=(1 1)/2";
  expect_answer("mask_by_prefix", "grammar_distribution", text, "");
  expect_answer("mask_by_prefix", "forbidden_tokens", text, "");
  expect_answer("drafts_end_after_forbidden", "grammar_distribution", text, "");
  // Draft 0 (probability 1/2) is accepted, and the mutant's bonus is then always 0. Draft 1 is forbidden; token 0 is
  // emitted in its place, without a bonus. The correct bonus after token 0 has distribution (1 1)/2.
  expect_answer("bonus_mask_before_last_draft", "grammar_distribution", text,
                "token_path: after [0] got (3/4 1/4), expected (1/2 1/2), TV 1/4");
  expect_answer("mask_of_step_start", "grammar_distribution", text, "after [0] got (3/4 1/4), expected (1/2 1/2)");
  expect_answer("bonus_mask_before_last_draft", "forbidden_tokens", text, "");
}

TEST(Grammars, ABonusWithoutMask) {
  // Token 1 must follow token 0, and token 0 must follow token 1.
  constexpr auto text = "regex=(0 1)* | L=1 K=1 [] p=(1 1)/2 q=(1 0)/1";
  expect_answer("bonus_without_mask", "forbidden_tokens", text,
                "after [0] the grammar forbids token 0, and the output has it with probability 1/2");
  expect_answer("mask_by_prefix", "forbidden_tokens", text, "");
}

TEST(Grammars, StatesThatDoNotFollowTheText) {
  // If draft 0 is accepted, 1 is drawn. If draft 1 is rejected, 0 is drawn, but the rejected draft stays in the
  // mutant's state, so the mask of the next row is wrong.
  constexpr auto text = "regex=(0 1)* | L=1 K=1 [] p=(1 1)/2 q=(1 1)/2";
  expect_answer("state_after_all_drafts", "forbidden_tokens", text, "after [0] the grammar forbids token 0");
  expect_answer("state_after_all_drafts", "grammar_distribution", text,
                "after [0] got (1/4 3/4), expected (0 1), TV 1/4");
  // The mutant's state does not contain the accepted draft 0. From this state the drawn token 1 is forbidden, so there
  // is no next state, and the next row gets no mask.
  expect_answer("state_without_accepted_drafts", "grammar_distribution", text,
                "after [0 1] got (1/2 1/2), expected (1 0)");
}

/// The test uses instance 3 of docs/selection.md.
TEST(Grammars, ForbiddenDraftsAreRemoved) {
  constexpr auto text = "regex=(0|1)* | L=1 K=1 [] p=(1 1 1)/3 q=(1 0 1)/2";
  expect_answer(
      "forbidden_drafts_removed", "grammar_distribution", text,
      "after [] got (3/4 1/4 0), expected (1/2 1/2 0), TV 1/4; reached with probability 1; on this model the "
      "distribution is right with sample_and_match_tree");
  expect_answer("forbidden_drafts_removed", "forbidden_tokens", text, "");
  expect_answer("drafts_end_after_forbidden", "grammar_distribution", text, "");
}

TEST(Grammars, ThreeStatesOnChainsAndTrees) {
  // The start state allows all tokens and the state after token 1 all but token 1. The state after token 2 allows only
  // token 1, which leads back to the start state.
  constexpr std::string_view grammar = "next=(1 2 3),(2 0 3),(0 1 0) state=1 | ";
  constexpr std::string_view chain = "L=2 K=1 [] p=(1 2 3)/6 q=(3 2 1)/6",
                             tree = "L=2 K=2 [] p=(1 2 3)/6 q=(3 2 1)/6";
  for (const std::string_view model : {chain, tree}) {
    const std::string text = std::string(grammar) + std::string(model);
    for (const auto* right : {"mask_by_prefix", "drafts_end_after_forbidden"})
      for (const auto* check : {"grammar_distribution", "forbidden_tokens"}) expect_answer(right, check, text, "");
    for (const auto* wrong : {"bonus_mask_before_last_draft", "bonus_without_mask", "mask_of_step_start",
                              "state_after_all_drafts", "state_without_accepted_drafts", "forbidden_drafts_removed"})
      expect_answer(wrong, "grammar_distribution", text, "expected");
    expect_answer("siblings_share_state", "grammar_distribution", text, model == tree ? "expected" : "");
  }
}

/// Tests 1,200 cases of every check; a gate of profile nightly has 2,400.
TEST(Grammars, RightOnesPassOnManyModels) {
  for (const auto* name : {"mask_by_prefix", "drafts_end_after_forbidden"})
    for (const Finding& finding : component_registry().component(name)->examine({.seed = 5, .rounds = 5})) {
      EXPECT_EQ(finding.status, Status::passed) << name << ": " << finding.evidence << "\n" << finding.instance;
    }
  int chains = 0, masked_drafter = 0;
  const std::vector<GrammarCase> cases = GrammarGroup::cases(5, 5);
  for (const GrammarCase& one : cases) {
    EXPECT_TRUE(one.valid()) << one.text();
    EXPECT_EQ(GrammarCase::parse(one.text()), one);
    chains += one.chain();
    bool masked = true;
    for (Token x = 0; x < one.model.vocabulary(); ++x)
      masked &=
          one.automaton.after(one.state, x) >= 0 || one.model.after({}).proposal[static_cast<std::size_t>(x)] == 0;
    masked_drafter += masked;
  }
  EXPECT_EQ(cases.size(), 1200u);
  EXPECT_EQ(chains, 720);
  EXPECT_GT(masked_drafter, 400);
  EXPECT_LT(masked_drafter, 900);
}

/// A component with one state for all nodes in draw order is correct on chains, whose nodes are one path.
struct OneStateOfAChain : mutants::components::grammar::SiblingsShareState {
  static constexpr ComponentInfo info{.name = "one_state_of_a_chain", .summary = "", .source = "this test"};
  static constexpr bool trees = false;
};

TEST(Grammars, AComponentOfChainsIsNotCheckedOnTrees) {
  component_registry();  // registers the checks
  const GrammarRule rule = grammar_rule<OneStateOfAChain>();
  const ComponentOf<GrammarGroup> component(rule, Kind::verifier);
  for (const Finding& finding : component.examine({.tries_alone = false}))
    EXPECT_EQ(finding.status, Status::passed) << finding.evidence << "\n" << finding.instance;
  const auto tree = component.examine_one("grammar_distribution",
                                          "next=(0 3),(1 0),(0 2) state=1 | L=2 K=2 [] p=(1 1)/2 q=(1 1)/2");
  EXPECT_EQ(tree.value().status, Status::skipped);
}

/// Masks with a state number that the automaton does not have; the check must report this number.
struct StateBeyond : GrammarMasks {
  static constexpr ComponentInfo info{.name = "state_beyond", .summary = "", .source = "this test"};
  int mask_state(const GrammarStep& step, int) const { return step.automaton->states(); }
};

TEST(Grammars, AStateThatDoesNotExistIsAFailure) {
  component_registry();  // registers the checks
  const ComponentOf<GrammarGroup> component(grammar_rule<StateBeyond>(), Kind::mutant);
  const Finding finding = component.examine_one("forbidden_tokens", GrammarCase::example).value();
  EXPECT_EQ(finding.status, Status::failed);
  EXPECT_NE(finding.evidence.find("the mask of node 0 is that of state 2, and there are 2 states"), std::string::npos)
      << finding.evidence;
}

TEST(TokenExpressions, BecomeAutomata) {
  using States = std::vector<int>;
  EXPECT_EQ(automaton_of("( 0 1 )+", 2).next, (States{1, -1, -1, 0}));
  EXPECT_EQ(automaton_of("(0|1)*", 3).next, (States{0, 0, -1}));
  EXPECT_EQ(automaton_of(".*", 2).states(), 1);
  EXPECT_EQ(automaton_of("0* 1 .*", 2).next, (States{0, 0})) << "token 1 may always come later";
  EXPECT_EQ(automaton_of("0 (0 1|2)*", 3).next, (States{1, -1, -1, 2, -1, 1, -1, 1, -1}));
  // A text that begins with `0 1` cannot continue. States from which no text continues forever are removed, so token 1
  // is not allowed.
  EXPECT_EQ(automaton_of("0 1|(0 0)*", 2).next, automaton_of("(0 0)*", 2).next);
  EXPECT_EQ(automaton_of("10*", 11).vocabulary, 11);
}

TEST(TokenExpressions, RefuseWhatNoTextFollows) {
  for (const auto* wrong : {"", "0 1", "(0", "0)*", "2*", "*", "0|*", "a", "0**)"})
    EXPECT_THROW(automaton_of(wrong, 2), std::invalid_argument) << wrong;
  EXPECT_THROW(automaton_of("(0 0 0 0 0 0 0 0 0 1)*", 2), std::invalid_argument) << "ten states";
  EXPECT_THROW(automaton_of(std::string(200, '('), 2), std::invalid_argument);
}

TEST(GrammarCases, RefuseWhatHasNoMeaning) {
  constexpr std::string_view model = " | L=1 K=1 [] p=(1 1)/2 q=(1 1)/2";
  for (const auto* head : {"next=(0 0)", "next=(1 3)", "next=(1)", "next=(1 1) state=2", "next=(1 1) state=0",
                           "regex=0", "state=1", "next=(1 1),"})
    EXPECT_THROW(GrammarCase::parse(std::string(head) + std::string(model)), std::invalid_argument) << head;
  EXPECT_THROW(GrammarCase::parse("next=(1 1) | L=1 K=1 [] p=(1 0)/1 q=(1 1)/2"), std::invalid_argument)
      << "p with a 0";
  EXPECT_EQ(GrammarCase::parse(GrammarCase::example).text(),
            "next=(2 1),(0 1) state=1 | L=1 K=1 [] p=(1 1)/2 q=(1 1)/2");
}

}  // namespace
}  // namespace draftproof
