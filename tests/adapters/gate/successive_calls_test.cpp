// Programs that are exact only over several calls: each call gets the state that the call before it returned, and the
// checks pass this state on.
#include <functional>

#include <draftproof/adapters/built_in/built_in_adapter.hpp>
#include <draftproof/adapters/built_in/serve_registered.hpp>
#include <draftproof/adapters/gate/distribution_checks.hpp>
#include <draftproof/adapters/gate/external_gate.hpp>
#include <draftproof/adapters/gate/path_checks.hpp>
#include <draftproof/adapters/library/load_library.hpp>
#include <draftproof/tests/support/adapters_messages.hpp>
#include <draftproof/tests/support/adapters_served.hpp>

namespace draftproof::adapters {
namespace {

/// A program that applies `change` to each state that `inner` returns.
class ChangedState final : public Served {
 public:
  using Change = std::function<void(std::span<double> state)>;
  ChangedState(std::unique_ptr<Served> inner, Change change) : inner_{std::move(inner)}, change_{std::move(change)} {}

  const Declaration& declaration() const override { return inner_->declaration(); }
  void verify(const ServedBatch& batch, ServedResult& result) override {
    inner_->verify(batch, result);
    for (int row = 0; row < batch.rows; ++row) change_(result.state_of(row));
  }

 private:
  std::unique_ptr<Served> inner_;
  Change change_;
};

void forget_state(std::span<double> state) { std::fill(state.begin(), state.end(), 0.0); }
void double_ratio(std::span<double> state) { state[1] *= 2; }
void shorten(std::span<double> state) { state[0] = std::max(0.0, state[0] - 1); }

DistributionChecks judged_calls(Served& served, int instances) {
  ServedProgram program(served);
  DistributionCheckOptions options{.instances = instances, .adapter = "built-in:greedy_block"};
  options.explore.predictions = 64;
  return check_distributions(program, served.declaration(), options);
}

TEST(SuccessiveCalls, AStatefulSchemeHoldsWithItsState) {
  int stateful = 0;
  for (const BuiltInName& own : built_in_names()) {
    const auto served = serve_registered(own.name);
    EXPECT_EQ(served->declaration().stateful(), own.stateful) << own.name;
    if (!own.stateful) continue;
    ++stateful;
    const DistributionChecks checks = judged_calls(*served, 40);
    for (const Finding& finding : checks.findings)
      EXPECT_EQ(finding.status, Status::passed) << own.name << ' ' << finding.property << ": " << finding.evidence;
    EXPECT_EQ(checks.instances, 40);
    EXPECT_LE(checks.largest, checks.limit);
    EXPECT_LT(checks.limit, 1e-9);
  }
  EXPECT_EQ(stateful, 1);
}

TEST(SuccessiveCalls, ThroughTheCInterfaceToo) {
  const auto served = linked_library("own", built_in_adapter, {.create = R"({"verifier": "greedy_block"})"});
  EXPECT_TRUE(served->declaration().stateful());
  for (const Finding& finding : judged_calls(*served, 10).findings) {
    // The C interface has rows in float32. Rounding can give a residual that is empty in exact arithmetic a mass of one
    // unit in the last place, but no positive weights, so "answers" may fail.
    if (finding.property == "answers") continue;
    EXPECT_EQ(finding.status, Status::passed) << finding.property << ": " << finding.evidence;
  }
}

TEST(SuccessiveCalls, AWrongStateIsAWrongDistribution) {
  using Bug = std::pair<ChangedState::Change, std::string>;
  for (const auto& [change, smallest] :
       {Bug{forget_state, "L=2 K=1 [] p=(1 1)/2 q=(1 2)/3"}, Bug{double_ratio, ""}, Bug{shorten, ""}}) {
    ChangedState served(serve_registered("greedy_block"), change);
    const Finding finding = judged_calls(served, 40).findings.at(0);
    EXPECT_EQ(finding.property, "exact_distribution");
    EXPECT_EQ(finding.status, Status::failed) << finding.evidence;
    EXPECT_LE(finding.instance.size(), 60u) << finding.instance;
    if (!smallest.empty()) {
      EXPECT_EQ(finding.instance, smallest);
    }
  }
}

TEST(SuccessiveCalls, TrialsGiveTheStateBack) {
  const PathCheckOptions options{.log2_trials = 16, .source = "zipf:vocabulary=32,positions=4,noise=1.5"};
  ChangedState right(serve_registered("greedy_block"), [](std::span<double>) {});
  EXPECT_EQ(check_paths(right, options).status, Status::passed);
  ChangedState wrong(serve_registered("greedy_block"), forget_state);
  const Finding finding = check_paths(wrong, options);
  EXPECT_EQ(finding.status, Status::failed) << finding.evidence;
}

TEST(SuccessiveCalls, EdgeChecksCompareStates) {
  int calls = 0;
  const auto served = std::make_shared<ChangedState>(serve_registered("greedy_block"),
                                                     [&calls](std::span<double> state) { state.back() = ++calls; });
  const ExternalGate gate("built-in:greedy_block", std::make_shared<ServedProgram>(*served), served);
  const GateResult result = run_gate({.external = &gate, .tier = Tier::edge}, {});
  EXPECT_EQ(result.status, Status::failed);
  expect_words(result.findings.at(0).evidence, "another state");
}

}  // namespace
}  // namespace draftproof::adapters
