// Tests of trials on a device: a correct device gives the host's numbers; if the device cannot run, the host runs and
// the report states why; and a device that is wrong by one is detected.
#include <gtest/gtest.h>

#include <draftproof/properties/gate/gate.hpp>
#include <draftproof/properties/gate/sampled_gate.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/simulation/backend.hpp>
#include <draftproof/properties/simulation/device_parity.hpp>
#include <draftproof/properties/survey/survey.hpp>
#include <draftproof/tests/support/example_rows.hpp>
#include <draftproof/tests/support/fake_device.hpp>

namespace draftproof {
namespace {

const RatioTable& device_distributions() {
  static const RatioTable made(examples::random_row(5, 60, 1), {examples::random_row(6, 60, 1)});
  return made;
}
const AnyVerifier& scheme(std::string_view name) { return *registry().verifier(name); }
const AnyDrafter& trial_drafts() { return *registry().drafter("iid"); }

DeviceParity parity_of(fake::Behaviour behaviour, std::uint64_t first = 700) {
  const fake::Device device("fake", std::move(behaviour));
  const AnyVerifier& verifier = scheme("recursive_rejection");
  const SampledNull null("recursive_rejection", trial_drafts(), device_distributions(), 3);
  return device_parity(verifier, trial_drafts(), device_distributions(), *device.load(device_distributions()), null,
                       3, {.trials = 5000, .seed = 3, .first = first, .threads = 1});
}

TEST(TrialDevice, SimulatesAsTheHostInRounds) {
  const fake::Device device("fake");
  const auto on = device.load(device_distributions());
  const Simulation what{scheme("recursive_rejection"), trial_drafts(), 2, 9, 100, true};
  std::vector<std::uint64_t> progress;
  constexpr std::uint64_t round = std::uint64_t{1} << 22, trials = round + 4097;
  const Tally there =
      simulate(what, *on, {.trials = trials, .progress = [&](std::uint64_t done) { progress.push_back(done); }});
  EXPECT_EQ(first_difference(there, simulate(what, device_distributions(), {.trials = trials})), "");
  EXPECT_EQ(progress, (std::vector{round, trials}));

  const std::atomic<bool> stop{true};
  const Tally stopped = simulate(what, *on, {.trials = trials, .stop = &stop});
  EXPECT_EQ(stopped.trials, 0u);
  EXPECT_EQ(stopped.histogram.size(), 60u);

  Simulation lazy = what;
  lazy.lazy = true;
  EXPECT_THROW(simulate(lazy, *on, {.trials = 1}), std::invalid_argument);
}

TEST(TrialDevice, SurveysAsTheHostAndSaysWhatItCannot) {
  registry();
  const Source source = Source::open("zipf:vocabulary=40,positions=3");
  SurveyOptions options{
      .drafts = {2}, .tuples = 2000, .verifiers = {"recursive_rejection", "k_seq", "optimal_transport"}};
  const SurveyResult host = survey(source, options);
  const fake::Device device("fake", {.refused = {"k_seq"}});
  options.device = &device;
  const SurveyResult there = survey(source, options);
  ASSERT_EQ(there.rows.size(), host.rows.size());
  ASSERT_GE(host.rows.size(), 2u);
  for (std::size_t r = 0; r < host.rows.size(); ++r) {
    const SurveyRow &here = host.rows[r], &row = there.rows[r];
    EXPECT_EQ(first_difference(row.tally, here.tally), "") << here.verifier->info().name;
    EXPECT_FALSE(here.place.asked());
    if (!row.not_run.empty()) continue;
    const bool runs = row.verifier->info().name == "recursive_rejection";
    EXPECT_EQ(row.place.on_device(), runs) << row.verifier->info().name;
    EXPECT_EQ(row.place.device, runs ? "fake" : "cpu");
    if (row.verifier->info().name == "k_seq") {
      EXPECT_EQ(row.place.refusal, "k_seq has no kernel");
    }
  }
}

TEST(TrialDevice, FailuresAreNotAnsweredByTheHost) {
  registry();
  const fake::Device device("fake", {.failure = "someCall: out of memory"});
  const Source source = Source::open("zipf:vocabulary=40,positions=3");
  EXPECT_THROW(survey(source, {.drafts = {2}, .tuples = 100, .verifiers = {"single_draft"}, .device = &device}),
               DeviceFailure);
  EXPECT_THROW(run_gate({.verifier = &scheme("single_draft"), .tier = Tier::sampled},
                        {.source = "zipf:vocabulary=40", .device = &device}),
               DeviceFailure);
}

TEST(TrialDevice, TheGateHasTheSameVerdictThere) {
  const fake::Device device("fake");
  const auto on = device.load(device_distributions());
  for (const std::string_view name : {"recursive_rejection", "resample_from_target"}) {
    SampledGateOptions options{.trials = 0x1p15, .alpha = 1e-9, .seed = 7, .first = 50};
    const auto here =
        sampled_gate(scheme(name), trial_drafts(), device_distributions(), device_distributions(), 3, options);
    options.on = on.get();
    const auto there =
        sampled_gate(scheme(name), trial_drafts(), device_distributions(), device_distributions(), 3, options);
    EXPECT_EQ(here.state, there.state) << name;
    EXPECT_EQ(here.log_e, there.log_e) << name;
    EXPECT_EQ(here.trials, there.trials) << name;
    EXPECT_EQ(here.acceptance, there.acceptance) << name;
    EXPECT_EQ(here.example, there.example) << name;
  }
}

TEST(TrialDevice, ABatchOfTheGateMayTakeSeveralRounds) {
  const fake::Device device("fake");
  const auto on = device.load(device_distributions());
  // The gate has one batch, which the device runs in two rounds; pairs of trials are counted up to a trial of the
  // second round.
  SampledGateOptions options{.trials = 6e6, .alpha = 1e-9, .seed = 7, .first_batch = 6'000'000};
  const auto here = sampled_gate(scheme("single_draft"), trial_drafts(), device_distributions(),
                                 device_distributions(), 1, options);
  options.on = on.get();
  const auto there = sampled_gate(scheme("single_draft"), trial_drafts(), device_distributions(),
                                  device_distributions(), 1, options);
  EXPECT_GT(here.trials, std::uint64_t{1} << 22);
  EXPECT_EQ(here.trials, there.trials);
  for (std::size_t i = 0; i < here.components.size(); ++i)
    EXPECT_EQ(here.components[i].log_e, there.components[i].log_e) << here.components[i].name;
}

TEST(DeviceParity, HoldsWhereEveryCountIsEqual) {
  const DeviceParity parity = parity_of({});
  EXPECT_TRUE(parity.equal()) << parity.difference;
  EXPECT_EQ(parity.trials, 5000u);
}

TEST(DeviceParity, FindsOneCountTooManyAndItsTrial) {
  using Lie = std::function<void(Tally&)>;
  for (const auto& [name, lie] :
       {std::pair<const char*, Lie>{"tokens among the drafts: ", [](Tally& tally) { ++tally.draft_emitted; }},
        {"drafts accepted: ", [](Tally& tally) { ++tally.draft_accepted; }},
        {"draft 3 accepted: ", [](Tally& tally) { ++tally.by_draft[2]; }},
        {"token 59: ", [](Tally& tally) { ++tally.histogram[59]; }},
        {"trials that reached a branch of probability zero: ", [](Tally& tally) { ++tally.impossible; }}})
    for (const std::uint64_t liar : {700u, 3333u, 5699u}) {
      const DeviceParity parity = parity_of({.lie = [liar, lie = lie](const DeviceTrials& trials, Tally& tally) {
        if (fake::among(trials, liar)) lie(tally);
      }});
      EXPECT_TRUE(parity.difference.starts_with(name)) << parity.difference;
      ASSERT_TRUE(parity.trial) << name;
      EXPECT_EQ(*parity.trial, liar - 700);
      EXPECT_FALSE(parity.alone.empty());
    }
  EXPECT_TRUE(parity_of({.lie = [](const DeviceTrials& trials, Tally& tally) {
                tally.draft_emitted += fake::among(trials, 5700);  // the first trial after the range
              }}).equal());
}

TEST(DeviceParity, SaysWhereNoTrialDiffersAlone) {
  const DeviceParity parity = parity_of({.lie = [](const DeviceTrials& trials, Tally& tally) {
    tally.draft_emitted -= trials.count > 100;  // a fault that only runs of more than 100 trials show
  }});
  EXPECT_FALSE(parity.equal());
  EXPECT_FALSE(parity.trial);
}

TEST(DeviceParity, ComparesWhatTheGateCountsToo) {
  using Lie = std::function<void(SampledCounts&)>;
  for (const auto& [name, lie] :
       {std::pair<const char*, Lie>{"path 4, token 7: ", [](SampledCounts& counts) { counts.cells.add(3, 7); }},
        {"draft 2, token 5 drawn: ", [](SampledCounts& counts) { ++counts.drafts[65]; }},
        {"groups 33 of successive tokens: ", [](SampledCounts& counts) { ++counts.serial_dependence[33]; }},
        {"tokens among the drafts: ", [](SampledCounts& counts) { ++counts.draft_emitted; }}}) {
    const DeviceParity parity =
        parity_of({.gate_lie = [lie = lie](const DeviceTrials&, SampledCounts& counts) { lie(counts); }});
    EXPECT_TRUE(parity.difference.starts_with(name)) << name << " | " << parity.difference;
  }
}

GateResult gate_on(const TrialDevice* device, std::string_view name, Tier tier) {
  GateOptions options{.source = "zipf:vocabulary=60", .drafts = 2, .device = device};
  options.profile.instances = 20;
  options.profile.log2_trials = 13;
  return run_gate({.verifier = &scheme(name), .tier = tier}, options);
}

TEST(GatesOnADevice, HoldItToTheHostFirst) {
  const fake::Device honest("fake"),
      liar("fake",
           {.lie = [](const DeviceTrials&trials, Tally&tally) { tally.draft_emitted += fake::among(trials, 4321); }});
  const GateResult passed = gate_on(&honest, "recursive_rejection", Tier::sampled);
  EXPECT_EQ(passed.status, Status::passed);
  ASSERT_EQ(passed.findings.size(), 2u);
  EXPECT_EQ(passed.findings[0].property, "fake counts what the CPU counts");
  for (const Finding& finding : passed.findings) EXPECT_EQ(finding.device, "fake");
  EXPECT_EQ(passed.note, "trials on fake");

  const GateResult failed = gate_on(&liar, "recursive_rejection", Tier::sampled);
  EXPECT_EQ(failed.status, Status::failed);
  EXPECT_EQ(failed.findings[0].status, Status::failed);
  EXPECT_NE(failed.findings[0].evidence.find("tokens among the drafts: "), std::string::npos);
  EXPECT_NE(failed.findings[0].evidence.find("trial 4321: "), std::string::npos);
  EXPECT_NE(failed.findings[0].replay.find("draftproof replay recursive_rejection "), std::string::npos);
  EXPECT_NE(failed.findings[0].replay.find("--trial 4321 "), std::string::npos);
}

TEST(GatesOnADevice, RunOnTheHostWithAReasonWhereTheyMust) {
  const fake::Device device("fake", {.refused = {"recursive_rejection"}});
  const GateResult result = gate_on(&device, "recursive_rejection", Tier::sampled);
  EXPECT_EQ(result.status, Status::passed);
  EXPECT_EQ(result.note, "trials on the CPU: recursive_rejection has no kernel");
  ASSERT_EQ(result.findings.size(), 2u);
  EXPECT_EQ(result.findings[0].status, Status::skipped);
  EXPECT_EQ(result.findings[1].device, "cpu");
  for (const Finding& finding : gate_on(&device, "single_draft", Tier::proof).findings)
    EXPECT_EQ(finding.device, "cpu");
  for (const Finding& finding : gate_on(nullptr, "single_draft", Tier::sampled).findings)
    EXPECT_EQ(finding.device, "");
}

}  // namespace
}  // namespace draftproof
