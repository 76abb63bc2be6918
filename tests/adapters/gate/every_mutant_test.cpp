// Every mutant that a script can drive is refuted through an adapter, by its distribution or at an edge of a coin's
// grid, with a counterexample; the few that no single call can refute are listed with the reason.
#include <map>
#include <optional>
#include <set>

#include <draftproof/adapters/built_in/serve_registered.hpp>
#include <draftproof/adapters/gate/distribution_checks.hpp>
#include <draftproof/adapters/gate/external_gate.hpp>
#include <draftproof/tests/support/adapters_messages.hpp>
#include <draftproof/tests/support/adapters_served.hpp>

namespace draftproof::adapters {
namespace {

/// How calls reveal a mutant that is not refuted by its distribution, with the reason.
enum class Shown { never, at_an_edge, without_a_token, as_no_function };
const std::map<std::string, std::pair<Shown, std::string>> otherwise_shown{
    {"accepted_counts_rejected_one",
     {Shown::never, "the tokens are right: the count of accepted ones, which no adapter has, is wrong"}},
    {"noise_drawn_once_per_prompt",
     {Shown::never, "each call is the first iteration of a prompt, and that one is right"}},
    {"second_call_accepts_tree", {Shown::never, "each call has a plan of its own, whose first decision is right"}},
    {"second_call_accepts",
     {Shown::as_no_function,
      "a plan of one position serves many calls: equal calls differ, so there is no distribution"}},
    // For these mutants the total variation is below the rounding limit, or the distribution is not found.
    {"non_strict_compare", {Shown::at_an_edge, "a coin of 0 accepts p = 0: one value of 2^53"}},
    {"non_strict_compare_tree", {Shown::at_an_edge, "the same"}},
    {"zero_residual_becomes_uniform", {Shown::at_an_edge, "a zero residual is reached by one coin of 2^53"}},
    {"zero_residual_becomes_uniform_tree", {Shown::at_an_edge, "the same"}},
    {"zero_exponential_wins",
     {Shown::at_an_edge,
      "its distribution is a race of uniforms that it turns into clocks itself: no finite number of "
      "stretches, so exact_distribution is undecided"}},
    {"zero_exponential_wins_tree", {Shown::at_an_edge, "the same"}},
    // The only fault of these mutants is that they emit no token if rounding leaves no residual.
    {"residual_without_mass", {Shown::without_a_token, "its distribution is right but for refusals of 2^-53 or so"}},
    {"residual_without_mass_tree", {Shown::without_a_token, "the same"}},
};

/// The smallest counterexamples of some mutants. hsd_last_index agrees with block verification up to three drafts.
const std::map<std::string, std::string> smallest_instances{
    {"resample_from_target", "p=(1 1)/2 q=(0 1)/1 K=1"},
    {"accept_always", "p=(0 1)/1 q=(1 0)/1 K=1"},
    {"bonus_from_draft", "L=1 K=1 [] p=(0 1)/1 q=(1 1)/2"},
    {"siblings_sorted_by_id", "L=1 K=2 [] p=(1 1)/2 q=(1 1)/2"},
    {"hsd_last_index", "L=4 K=1 [] p=(1 0)/1 q=(1 1)/2 [0] p=(2 1)/3 q=(1 1)/2"},
};

DistributionChecks examined(const std::string& name) {
  const auto served = serve_registered(name);
  ServedProgram program(*served);
  DistributionCheckOptions options{.instances = 60, .adapter = "built-in:" + name};
  options.explore.predictions = 64;  // few, because a failure is confirmed with more predictions
  // A race of uniforms uses all calls that an input may have, so their number is limited.
  if (name.starts_with("zero_exponential_wins")) options.explore.most_calls = 2000;
  return check_distributions(program, served->declaration(), options);
}

/// Examines all mutants of one position, or of paths. Returns the names of the refuted mutants.
std::set<std::string> refuted(bool position) {
  std::set<std::string> names;
  for (const BuiltInName& own : built_in_names()) {
    if (own.kind != Kind::mutant || (own.level == Level::position) != position) continue;
    SCOPED_TRACE(own.name);
    if (own.shared_noise) {  // cannot be scripted: the drafter would read the same tape values
      EXPECT_FALSE(serve_registered(own.name)->declaration().can(Randomness::scripted));
      continue;
    }
    const DistributionChecks result = examined(own.name);
    const auto of = [&](const char* check) -> const Finding& { return finding_of(result.findings, check); };
    const auto listed = otherwise_shown.find(own.name);
    if (listed == otherwise_shown.end()) {
      EXPECT_EQ(of("exact_distribution").status, Status::failed) << of("exact_distribution").evidence;
    } else if (listed->second.first == Shown::never) {
      for (const Finding& finding : result.findings) EXPECT_EQ(finding.status, Status::passed);
      continue;
    } else {
      EXPECT_NE(of("exact_distribution").status, Status::failed) << of("exact_distribution").evidence;
    }
    const Shown shown = listed == otherwise_shown.end() ? Shown::never : listed->second.first;
    const Finding& found = of(shown == Shown::never             ? "exact_distribution"
                              : shown == Shown::at_an_edge      ? "zero_support"
                              : shown == Shown::without_a_token ? "answers"
                                                                : "function");
    EXPECT_EQ(found.status, Status::failed) << found.evidence;
    // The finding has a counterexample and a command that reproduces it.
    EXPECT_FALSE(found.instance.empty());
    EXPECT_EQ(found.replay,
              "draftproof replay --adapter 'built-in:" + own.name + "' --instance '" + found.instance + "'");
    if (shown == Shown::at_an_edge) expect_words(found.evidence, "probability 2^-53 a decision");
    if (const auto smallest = smallest_instances.find(own.name); smallest != smallest_instances.end()) {
      EXPECT_EQ(found.instance, smallest->second);
    }
    names.insert(own.name);
  }
  return names;
}

TEST(EveryMutant, OfPositionsIsRefutedByCalls) { EXPECT_GE(refuted(true).size(), 35u); }
TEST(EveryMutant, OfPathsIsRefutedByCalls) { EXPECT_GE(refuted(false).size(), 48u); }

TEST(EveryMutant, ProfileQuickMissesThoseThatNeedMoreDraftsAlone) {
  for (const BuiltInName& own : built_in_names()) {
    if (own.kind != Kind::mutant || own.shared_noise) continue;
    const std::shared_ptr<Served> served = serve_registered(own.name);
    const ExternalGate gate("built-in:" + own.name, std::make_shared<ServedProgram>(*served), served);
    const GateResult result = run_gate({.external = &gate, .tier = Tier::proof}, {.profile = profiles[2]});
    const auto listed = otherwise_shown.find(own.name);
    const bool never = listed != otherwise_shown.end() && listed->second.first == Shown::never;
    EXPECT_EQ(result.status == Status::failed, own.name != "hsd_last_index" && !never) << own.name;
  }
}

TEST(EveryMutant, ListedOnesAreRegistered) {
  for (const auto& [name, how] : otherwise_shown) EXPECT_NO_THROW(serve_registered(name)) << name;
  for (const auto& [name, instance] : smallest_instances) EXPECT_NO_THROW(serve_registered(name)) << name;
}

}  // namespace
}  // namespace draftproof::adapters
