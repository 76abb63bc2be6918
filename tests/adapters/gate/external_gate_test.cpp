// The tiers of an external program, and the reasons why some tiers cannot run on a program.
#include <draftproof/adapters/gate/external_gate.hpp>

#include <cmath>
#include <functional>
#include <numeric>
#include <set>

#include <draftproof/adapters/built_in/serve_registered.hpp>
#include <draftproof/adapters/gate/external_verifier.hpp>
#include <draftproof/tests/support/adapters_rejection.hpp>
#include <draftproof/tests/support/adapters_served.hpp>

namespace draftproof::adapters {
namespace {

GateResult sampled_gate(const std::shared_ptr<Rejection>& program, int threads = 1) {
  const ExternalGate gate("exec:mine", nullptr, program);
  return run_gate({.external = &gate, .tier = Tier::sampled}, {.threads = threads});
}

TEST(ExternalSampled, RightProgramsHold) {
  for (const Level level : {Level::position, Level::chain})
    for (const Randomness randomness : {Randomness::seeded, Randomness::opaque}) {
      Declaration declaration = rejection_of(level);
      declaration.randomness = {randomness};
      const auto program = std::make_shared<Rejection>(declaration);
      const GateResult result = sampled_gate(program);
      std::vector<std::string> checks;
      for (const Finding& finding : result.findings) {
        EXPECT_EQ(finding.status, Status::passed) << finding.evidence;
        checks.push_back(finding.property);
      }
      EXPECT_EQ(checks,
                level == Level::chain
                    ? (std::vector<std::string>{"distribution of one draft at V = 32",
                                                "distribution of one draft at V = 8, one token likely",
                                                "distribution of a path of 4 or 8 drafts at V = 32",
                                                "distribution of a path of 4 or 8 drafts at V = 8, one token likely"})
                    : (std::vector<std::string>{"distribution of 4 drafts at V = 32",
                                                "distribution of 4 drafts at V = 8, one token likely"}))
          << result.note;
      EXPECT_EQ(program->asked, std::set{randomness});
      EXPECT_EQ(result.draft_samplings.front(), "iid");
      EXPECT_EQ(result.draft_samplings.size(), level == Level::chain ? 2u : 1u);
      EXPECT_GE(result.work, 1u << 16);
    }
  // Trials have the declared number of drafts and, for independent drafts, one proposal per draft.
  for (const int drafts : {2, 6}) {
    Declaration declaration = rejection_of(Level::position);
    declaration.fewest_drafts = declaration.most_drafts = drafts;
    const GateResult result = sampled_gate(std::make_shared<Rejection>(declaration));
    EXPECT_EQ(result.status, Status::passed) << result.note;
    ASSERT_EQ(result.findings.size(), 2u);
    EXPECT_EQ(result.findings[0].property, "distribution of " + std::to_string(drafts) + " drafts at V = 32");
  }
  Declaration declaration = rejection_of(Level::position);
  declaration.draft_sampling = "independent";
  const auto program = std::make_shared<Rejection>(declaration);
  const GateResult result = sampled_gate(program);
  EXPECT_EQ(result.status, Status::passed) << result.findings[0].evidence;
  EXPECT_EQ(program->proposal_rows, std::set{4});
}

TEST(ExternalSampled, ResidualsWithoutMassAreFound) {
  for (const auto& [level, drafts, instance] :
       {std::tuple{Level::chain, "(0)", "L=1 K=1 [] p=(0 1)/1 q=(1 33554431)/33554432"},
        {Level::position, "(0 0 0 0)", "p=(0 1)/1 q=(1 33554431)/33554432 K=4"}}) {
    const auto program = std::make_shared<Rejection>(rejection_of(level));
    program->sampling.fallback = Fallback::never;
    const GateResult result = sampled_gate(program);
    EXPECT_EQ(result.status, Status::failed);
    const Finding& found = result.findings.back();
    EXPECT_EQ(found.property, "answers");
    EXPECT_EQ(found.tier, Tier::sampled);
    EXPECT_EQ(found.evidence,
              std::string("on drafts ") + drafts + ": got token 0, which has p = 0, expected a token with p > 0");
    EXPECT_EQ(found.instance, instance);
    EXPECT_EQ(found.replay, "draftproof check --adapter 'exec:mine' --tier sampled --seed 1");
  }
}

TEST(ExternalSampled, WrongProgramsAreFound) {
  for (const Level level : {Level::position, Level::chain})
    for (const Randomness randomness : {Randomness::seeded, Randomness::opaque}) {
      Declaration declaration = rejection_of(level);
      declaration.randomness = {randomness};
      const auto program = std::make_shared<Rejection>(declaration);
      program->sampling.residual = residual_is_p;
      const GateResult result = sampled_gate(program);
      EXPECT_EQ(result.status, Status::failed);
      ASSERT_EQ(result.findings.size(), level == Level::chain ? 2u : 1u);
      for (const Finding& finding : result.findings) {
        EXPECT_EQ(finding.status, Status::failed) << finding.property;
        EXPECT_EQ(finding.tier, Tier::sampled);
        expect_words(finding.replay,
                     "^draftproof check --adapter 'exec:mine' --tier sampled --source 'zipf:vocabulary=32,");
      }
    }
  const auto program = std::make_shared<Rejection>(rejection_of(Level::chain));
  program->sampling.bonus_of_first_row = true;
  const Finding path = sampled_gate(program).findings.back();
  EXPECT_EQ(path.status, Status::failed);
  expect_words(path.evidence, "token 5 of a trial");
}

TEST(ExternalSampled, ARuleForLikelyTokensIsFound) {
  for (const Level level : {Level::position, Level::chain}) {
    const auto program = std::make_shared<Rejection>(rejection_of(level));
    program->sampling.accepts = [](double u, double p, double q) { return p > 0.9 || u * q < p; };
    const GateResult result = sampled_gate(program);
    EXPECT_EQ(result.status, Status::failed);
    ASSERT_EQ(result.findings.size(), level == Level::chain ? 4u : 2u);
    for (std::size_t i = 0; i < result.findings.size(); ++i) {
      const Finding& finding = result.findings[i];
      const bool likely = finding.property.ends_with(" at V = 8, one token likely");
      EXPECT_EQ(likely, i % 2 == 1);
      EXPECT_EQ(finding.status, likely ? Status::failed : Status::passed) << finding.property;
      if (likely) expect_words(finding.replay, "--source 'zipf:vocabulary=8,exponent=4.5,");
    }
  }
}

TEST(ExternalSampled, AProgramThatFailsOnLikelyTokensAloneIsRefuted) {
  for (const Level level : {Level::position, Level::chain}) {
    const auto program = std::make_shared<Rejection>(rejection_of(level));
    program->fails_above = 0.9;
    const GateResult result = sampled_gate(program);
    EXPECT_EQ(result.status, Status::failed);
    EXPECT_EQ(result.findings[0].status, Status::passed);
    EXPECT_EQ(result.findings[1].status, Status::failed);
    expect_words(result.findings[1].replay, "--source 'zipf:vocabulary=8,");
  }
}

TEST(ExternalSampled, RowsOfSixteenBitsHaveTheStandardSourceAlone) {
  for (const Level level : {Level::position, Level::chain}) {
    Declaration declaration = rejection_of(level);
    declaration.dtypes = {Dtype::bfloat16};
    const GateResult result = sampled_gate(std::make_shared<Rejection>(declaration));
    EXPECT_EQ(result.status, Status::passed);
    ASSERT_EQ(result.findings.size(), level == Level::chain ? 2u : 1u);
    for (const Finding& finding : result.findings) EXPECT_TRUE(finding.property.ends_with("V = 32"));
  }
}

TEST(ExternalSampled, ReplayLinesHaveTheProfileAndTheDrafts) {
  const auto program = std::make_shared<Rejection>(rejection_of(Level::chain));
  program->sampling.residual = residual_is_p;
  program->sampling.fallback = Fallback::never;
  const ExternalGate gate("exec:mine", nullptr, program);
  const GateResult result =
      run_gate({.external = &gate, .tier = Tier::sampled}, {.profile = profiles.back(), .threads = 1, .drafts = 3});
  EXPECT_EQ(result.findings.size(), 2u);
  for (const Finding& finding : result.findings) {
    EXPECT_EQ(finding.status, Status::failed);
    EXPECT_TRUE(finding.replay.ends_with(" --seed 1 --profile quick")) << finding.replay;
  }
  expect_words(result.findings.back().replay, "--drafts 3");
  const auto position = std::make_shared<Rejection>(rejection_of(Level::position));
  position->sampling.residual = residual_is_p;
  const ExternalGate other("exec:mine", nullptr, position);
  expect_words(run_gate({.external = &other, .tier = Tier::sampled}, {.threads = 1, .drafts = 3}).findings[0].replay,
               "' --drafts 3 --seed 1$");
  program->sampling.residual = residual_of;
  const Finding near =
      run_gate({.external = &gate, .tier = Tier::sampled}, {.profile = profiles.back(), .threads = 1, .drafts = 3})
          .findings.back();
  EXPECT_EQ(near.property, "answers");
  EXPECT_EQ(near.replay, "draftproof check --adapter 'exec:mine' --tier sampled --drafts 3 --seed 1 --profile quick");
}

TEST(ExternalSampled, ALostLastBlockIsFound) {
  Declaration declaration = rejection_of(Level::position);
  declaration.most_vocabulary = 0;
  declaration.most_drafts = 1;
  const auto program = std::make_shared<Rejection>(declaration);
  EXPECT_EQ(sampled_gate(program).status, Status::passed);
  program->sampling.residual = [](const Weights& p, const Weights& q) {
    Weights left = residual_of(p, q);
    const std::size_t blocks = left.size() / 128 * 128;
    if (blocks > 0) std::fill(left.begin() + static_cast<std::ptrdiff_t>(blocks), left.end(), 0);
    return left;
  };
  const GateResult result = sampled_gate(program);
  EXPECT_EQ(result.status, Status::failed);
  expect_words(result.findings.front().property, "V = 1031$");
}

TEST(ExternalSampled, RowsInOtherTypes) {
  for (const Level level : {Level::position, Level::chain})
    for (const Dtype dtype : {Dtype::float32, Dtype::float64})
      for (const RowKind kind : {RowKind::probabilities, RowKind::logits}) {
        Declaration declaration = rejection_of(level);
        declaration.dtypes = {dtype};
        declaration.rows = {kind};
        EXPECT_EQ(sampled_gate(std::make_shared<Rejection>(declaration)).status, Status::passed)
            << to_text(level) << ' ' << to_text(dtype) << ' ' << to_text(kind);
      }
}

/// Returns the program's decisions on a batch of trials from number 40 on.
std::vector<Verdict> decided(const std::shared_ptr<Rejection>& program, const RatioTable& table,
                             std::vector<Token> tokens, int drafts, std::uint64_t seed) {
  const std::size_t trials = tokens.size() / static_cast<std::size_t>(drafts);
  std::vector<int> lengths(trials, drafts);
  std::vector<Verdict> verdicts(trials);
  ExternalVerifier(program)
      .simulate_on(table, drafts)
      ->decide({.seed = seed,
                .first = 40,
                .count = static_cast<int>(trials),
                .stride = drafts,
                .drafts = tokens.data(),
                .lengths = lengths.data()},
               verdicts.data());
  return verdicts;
}

TEST(ExternalSampled, SeedsAreThoseOfTheTrials) {
  std::vector<double> target, proposal;
  for (int x = 0; x < 16; ++x) {
    target.push_back((x + 1) / 136.);
    proposal.push_back((16 - x) / 136.);
  }
  const RatioTable table(target, proposal);
  constexpr int trials = 1000, drafts = 2;
  std::vector<Token> tokens;
  for (int t = 0; t < trials * drafts; ++t) tokens.push_back(t * 7 % 16);
  const auto with = [&](int most_rows, std::uint64_t seed) {
    Declaration declaration = rejection_of(Level::position);
    declaration.most_rows = most_rows;
    const auto program = std::make_shared<Rejection>(declaration);
    const std::vector<Verdict> verdicts = decided(program, table, tokens, drafts, seed);
    EXPECT_EQ(*program->sizes.rbegin(), std::min(most_rows, trials));
    return verdicts;
  };
  const auto whole = with(4096, 3), parts = with(7, 3), other = with(4096, 4);
  int differ = 0, flagged = 0;
  for (std::size_t t = 0; t < whole.size(); ++t) {
    EXPECT_EQ(whole[t].token, parts[t].token) << t;
    EXPECT_EQ(whole[t].accepted, parts[t].accepted) << t;
    differ += whole[t].token != other[t].token ? 1 : 0;
    if (whole[t].accepted == none_accepted) continue;
    ++flagged;
    EXPECT_EQ(tokens[t * drafts + static_cast<std::size_t>(whole[t].accepted)], whole[t].token);
  }
  EXPECT_GT(differ, trials / 10) << "another seed has other trials";
  EXPECT_GT(flagged, trials / 2);
  const auto evidence = [](int threads) {  // the evidence must be equal for any number of threads
    return sampled_gate(std::make_shared<Rejection>(rejection_of(Level::position)), threads).findings.at(0).evidence;
  };
  const std::string one = evidence(1);
  EXPECT_EQ(evidence(2), one);
  EXPECT_EQ(evidence(5), one);
}

TEST(ExternalSampled, ChainAcceptsWhereItEmitsMoreThanOneToken) {
  const std::vector<double> half{.5, .5}, sure{0, 1};
  const std::size_t trials = 400;
  int accepted = 0;
  for (const Verdict& verdict : decided(std::make_shared<Rejection>(rejection_of(Level::chain)),
                                        RatioTable(half, sure), std::vector<Token>(trials, 1), 1, 1)) {
    EXPECT_EQ(verdict.accepted, verdict.token == 1 ? 0 : none_accepted);  // the residual is token 0
    accepted += verdict.token;
  }
  EXPECT_NEAR(accepted, trials / 2, 60);  // six standard deviations
}

TEST(ExternalSampled, RowsThatFailAreViolations) {
  const auto program = std::make_shared<Rejection>(rejection_of(Level::position));
  program->fails_at = 2;
  const GateResult result = sampled_gate(program);
  EXPECT_EQ(result.status, Status::failed);
  ASSERT_EQ(result.findings.size(), 1u);
  expect_parts(result.findings[0].evidence,
               {" trials have no answer; the first, trial ", ", has status failed: no memory$"});
}

TEST(ExternalSampled, AProgramThatFailsOnEveryTrialIsAnError) {
  for (const Level level : {Level::position, Level::chain})
    for (const int fewest : {1, 2}) {  // Chains that require two drafts have no trials of one position.
      Declaration declaration = rejection_of(level);
      declaration.fewest_drafts = fewest;
      const auto program = std::make_shared<Rejection>(declaration);
      program->always_fails = true;
      expect_error<ProgramFails>([&] { sampled_gate(program); }, "^rejection fails on every input: no memory$");
    }
}

TEST(ExternalSampled, BrokenProtocolIsAViolation) {
  for (const int threads : {1, 3}) {
    const auto program = std::make_shared<Rejection>(rejection_of(Level::position));
    program->breaks_at = 2;
    const GateResult result = sampled_gate(program, threads);
    EXPECT_EQ(result.status, Status::failed);
    ASSERT_EQ(result.findings.size(), 1u);
    EXPECT_EQ(result.findings[0].property, "protocol");
    EXPECT_EQ(result.findings[0].evidence, "rejection: got no answer");
    EXPECT_EQ(result.findings[0].replay, "draftproof check --adapter 'exec:mine' --tier sampled --seed 1");
  }
}

TEST(ExternalGate, ReplayLinesAreForAShell) {
  const auto program = std::make_shared<Rejection>(rejection_of(Level::position));
  program->breaks_at = 0;
  const ExternalGate gate("exec:python3 'my child.py'", nullptr, program);
  const GateResult result = run_gate({.external = &gate, .tier = Tier::sampled}, {.threads = 1});
  EXPECT_EQ(result.findings.at(0).replay,
            R"(draftproof check --adapter 'exec:python3 '\''my child.py'\''' --tier sampled --seed 1)");
}

TEST(ExternalGate, RefusesTiersWithAReason) {
  const auto expect = [](const Declaration& declaration, const std::vector<Tier>& tiers, const std::string& reason) {
    for (const Tier tier : tiers) {
      const auto program = std::make_shared<Rejection>(declaration);
      const ExternalGate gate("exec:mine", nullptr, program);
      EXPECT_EQ(gate.name(), declaration.name);
      EXPECT_EQ(gate.level(), to_text(declaration.level));
      EXPECT_EQ(gate.refusal(tier), reason);
      if (reason.empty()) continue;
      const GateResult result = run_gate({.external = &gate, .tier = tier}, {.threads = 1});
      EXPECT_EQ(result.status, Status::skipped);
      EXPECT_EQ(result.note, reason);
      EXPECT_TRUE(program->asked.empty());
    }
  };
  const std::vector<Tier> sampled{Tier::sampled}, others{Tier::proof, Tier::edge};
  const Declaration scripted{.name = "scripted", .level = Level::chain};
  expect(scripted, others, "");
  expect({.name = "many", .level = Level::chain, .fewest_drafts = 5}, others,
         "no small model is within its declaration: draft sampling iid, at least 5 drafts");
  expect({.name = "many", .level = Level::position, .fewest_drafts = 5}, others,
         "no small model is within its declaration: draft sampling iid, at least 5 drafts");
  expect(scripted, sampled, "the program declares scripted randomness only");
  Declaration seeded = rejection_of(Level::chain);
  expect(seeded, others, "the program does not declare scripted randomness");
  expect(seeded, sampled, "");
  seeded.fewest_drafts = 2;  // The program then has trials of paths, but none of one position.
  expect(seeded, sampled, "");
  Declaration tree = rejection_of(Level::tree);
  tree.draft_sampling = "iid_paths";
  expect(tree, sampled, "");
  for (Declaration* many : {&seeded, &tree}) {
    many->fewest_drafts = 100;
    expect(*many, sampled, "trials have no paths or trees of 100 drafts or more");
  }
  tree.functions = {"verify", "generate"};
  expect(tree, sampled, "");
  Declaration drafter = rejection_of(Level::position);
  drafter.functions = {"draft"};
  expect(drafter, {Tier::proof}, "the program has no verify function");
  expect(drafter, sampled, "");
}

TEST(ExternalGate, ProfileQuickTakesTwentyThousandCallsOfAChain) {
  Declaration declaration = rejection_of(Level::chain);
  declaration.randomness = {Randomness::scripted, Randomness::seeded};
  const auto program = std::make_shared<InProcess>(RejectionSampling{});
  const ExternalGate gate("exec:mine", program, std::make_shared<Rejection>(declaration));
  std::uint64_t trials = 0;
  for (const Tier tier : all_tiers) {
    const GateResult result = run_gate({.external = &gate, .tier = tier}, {.profile = profiles[2], .threads = 1});
    EXPECT_EQ(result.status, Status::passed);
    if (tier == Tier::sampled) trials = result.work;
  }
  EXPECT_LT(program->runs_made + trials, 22'500u);
}

/// Served as a registered verifier is, with batches that had no result.
struct Unexplained final : ServedProgram {
  using ServedProgram::ServedProgram;
  void run(std::span<const Input> inputs, std::span<const Call> calls, std::span<Run> runs) override {
    ServedProgram::run(inputs, calls, runs);
    batches.emplace_back("64 rows: refused: out of memory");
  }
  std::span<const std::string> unexplained() const override { return batches; }
  std::vector<std::string> batches;
};

TEST(ExternalGate, ABatchWithoutAResultLeavesTheVerdictUndecided) {
  const std::shared_ptr<Served> served = serve_registered("single_draft");
  const ExternalGate gate("built-in:single_draft", std::make_shared<Unexplained>(*served), served);
  const GateResult edge = run_gate({.external = &gate, .tier = Tier::edge}, {});
  EXPECT_EQ(edge.status, Status::undecided);
  ASSERT_EQ(edge.findings.size(), 7u);
  EXPECT_EQ(edge.findings.back().property, "batches");
  EXPECT_TRUE(edge.findings.back().evidence.ends_with(
      "of the batches had no result, although each row alone had one; the first, 64 rows: refused: out of memory"))
      << edge.findings.back().evidence;
}

TEST(ExternalGate, ProofAndEdgeOfARegisteredVerifier) {
  const std::shared_ptr<Served> served = serve_registered("single_draft");
  const ExternalGate gate("built-in:single_draft", std::make_shared<ServedProgram>(*served), served);
  const GateResult proof = run_gate({.external = &gate, .tier = Tier::proof}, {});
  EXPECT_EQ(proof.status, Status::passed);
  EXPECT_EQ(proof.findings.size(), 6u);
  EXPECT_TRUE(proof.note.starts_with("120 models, ")) << proof.note;
  EXPECT_EQ(proof.draft_samplings, std::vector<std::string>{"iid"});
  const GateResult edge = run_gate({.external = &gate, .tier = Tier::edge}, {});
  EXPECT_EQ(edge.status, Status::passed);
  EXPECT_EQ(edge.findings.size(), 6u);
}

}  // namespace
}  // namespace draftproof::adapters
