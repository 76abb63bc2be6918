// Every mutant that a script can drive is refuted through a door, by its law or at an edge of a coin's grid, with a
// counterexample; the few that no single call can refute are listed with the reason.
#include <map>
#include <optional>
#include <set>

#include <gtest/gtest.h>

#include <draftproof/doors/gate/foreign_gate.hpp>
#include <draftproof/doors/gate/law_checks.hpp>
#include <draftproof/doors/own/serve_registered.hpp>
#include <draftproof/tests/support/doors_served_program.hpp>

namespace draftproof::doors {
namespace {

/// Mutants whose tokens have the right law in every single call.
const std::map<std::string, std::string> right_in_every_call{
    {"accepted_counts_rejected_one", "the tokens are right: the count of accepted ones, which no door has, is wrong"},
    {"noise_drawn_once_per_prompt", "each call is the first iteration of a prompt, and that one is right"},
    {"second_call_accepts_tree", "each call has a plan of its own, whose first decision is right"},
};

/// A plan of one position serves many calls: equal calls differ, so there is no law to refute.
constexpr std::string_view no_function = "second_call_accepts";

/// Mutants of zero_support alone: the mass is below what rounding explains, or the law is not found.
const std::map<std::string, std::string> refuted_at_an_edge{
    {"non_strict_compare", "a coin of 0 accepts p = 0: one value of 2^53"},
    {"non_strict_compare_tree", "the same"},
    {"zero_residual_becomes_uniform", "a zero residual is reached by one coin of 2^53"},
    {"zero_residual_becomes_uniform_tree", "the same"},
    {"zero_exponential_wins",
     "its law is a race of uniforms that it turns into clocks itself: no finite number of "
     "stretches, so exact_law is undecided"},
    {"zero_exponential_wins_tree", "the same"},
};

/// Mutants that only have no token, where rounding leaves no residual.
const std::map<std::string, std::string> refuted_without_a_token{
    {"residual_without_mass", "its law is right but for refusals of 2^-53 or so"},
    {"residual_without_mass_tree", "the same"},
};

struct Examined {
  LawChecks checks;
  const GateFinding& of(const std::string& check) const {
    for (const GateFinding& finding : checks.findings)
      if (finding.check == check) return finding;
    throw std::logic_error("no such check");
  }
};

Examined examined(const std::string& name) {
  const auto served = serve_registered(name);
  ServedProgram program(*served);
  LawCheckOptions options{.instances = 60, .door = "own:" + name};
  options.explore.predictions = 64;  // a law that departs is confirmed by more
  // Races of uniforms use up the calls of every input.
  if (name.starts_with("zero_exponential_wins")) options.explore.most_calls = 2000;
  return {check_laws(program, served->declaration(), options)};
}

struct Refuted {
  int asked = 0, found = 0;
};

/// Examines all mutants of one position, or of paths.
Refuted refuted(bool position) {
  Refuted count;
  for (const OwnName& own : own_names()) {
    if (own.kind != Kind::mutant || (own.level == Level::position) != position) continue;
    SCOPED_TRACE(own.name);
    if (own.shared_noise) {  // seeded only: a word of a tape would be drafted with too
      EXPECT_FALSE(serve_registered(own.name)->declaration().can(Randomness::scripted));
      continue;
    }
    const Examined result = examined(own.name);
    const GateFinding &law = result.of("exact_law"), &support = result.of("zero_support");
    const bool silent = refuted_without_a_token.contains(own.name);
    const bool edge_alone = silent || refuted_at_an_edge.contains(own.name);
    if (own.name == no_function) {
      EXPECT_EQ(result.of("function").status, Status::violated);
      EXPECT_NE(law.status, Status::violated) << law.evidence;
      continue;
    }
    if (right_in_every_call.contains(own.name)) {
      for (const GateFinding& finding : result.checks.findings) EXPECT_EQ(finding.status, Status::held);
      continue;
    }
    ++count.asked;
    const GateFinding& found = silent ? result.of("answers") : edge_alone ? support : law;
    EXPECT_EQ(found.status, Status::violated) << found.evidence;
    EXPECT_NE(law.status == Status::violated, edge_alone) << law.evidence;
    // A reader can check it: the smallest sizes that the slip needs, and a line that shows it again.
    EXPECT_FALSE(found.instance.empty());
    EXPECT_EQ(found.replay, "draftproof replay --door 'own:" + own.name + "' --instance '" + found.instance + "'");
    if (edge_alone && !silent) {
      EXPECT_NE(support.evidence.find("probability 2^-53 a decision"), std::string::npos) << support.evidence;
    }
    count.found += found.status == Status::violated ? 1 : 0;
  }
  return count;
}

TEST(EveryMutant, OfPositionsIsRefutedByCalls) {
  const Refuted count = refuted(true);
  EXPECT_EQ(count.found, count.asked);
  EXPECT_GE(count.asked, 34);
}

TEST(EveryMutant, OfPathsIsRefutedByCalls) {
  const Refuted count = refuted(false);
  EXPECT_EQ(count.found, count.asked);
  EXPECT_GE(count.asked, 48);
}

TEST(EveryMutant, ProfileQuickMissesThoseThatNeedMoreDraftsAlone) {
  std::set<std::string> missed{"hsd_last_index"};
  for (const auto& [name, reason] : right_in_every_call) missed.insert(name);
  for (const OwnName& own : own_names()) {
    if (own.kind != Kind::mutant || own.shared_noise) continue;
    const std::shared_ptr<Served> served = serve_registered(own.name);
    const ForeignGate gate("own:" + own.name, std::make_shared<ServedProgram>(*served), served);
    const GateResult result = run_gate({.foreign = &gate, .tier = Tier::proof}, {.profile = profiles[2]});
    EXPECT_EQ(result.status == Status::violated, !missed.contains(own.name)) << own.name;
  }
}

TEST(EveryMutant, ListedOnesAreRegistered) {
  for (const auto& list : {right_in_every_call, refuted_at_an_edge, refuted_without_a_token})
    for (const auto& [name, reason] : list) EXPECT_NO_THROW(serve_registered(name)) << name;
}

TEST(EveryMutant, CounterexamplesAreSmall) {
  const auto instance = [](const char* name, const char* check) { return examined(name).of(check).instance; };
  EXPECT_EQ(instance("resample_from_target", "exact_law"), "p=(1 1)/2 q=(0 1)/1 K=1");
  EXPECT_EQ(instance("accept_always", "exact_law"), "p=(0 1)/1 q=(1 0)/1 K=1");
  EXPECT_EQ(instance("bonus_from_draft", "exact_law"), "L=1 K=1 [] p=(0 1)/1 q=(1 1)/2");
  EXPECT_EQ(instance("siblings_sorted_by_id", "exact_law"), "L=1 K=2 [] p=(1 1)/2 q=(1 1)/2");
  // Block verification and the mutant agree up to three drafts.
  EXPECT_EQ(instance("hsd_last_index", "exact_law"), "L=4 K=1 [] p=(1 2)/3 q=(1 1)/2");
}

}  // namespace
}  // namespace draftproof::doors
