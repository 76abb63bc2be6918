// Tests of the statistical gate: it passes correct verifiers, fails wrong verifiers after few trials, each component
// detects deviations that only it detects, and the verdict is the same for any number of threads.
#include <cmath>

#include <gtest/gtest.h>

#include <draftproof/properties/gate/gate.hpp>
#include <draftproof/properties/gate/sampled_gate.hpp>
#include <draftproof/properties/gate/sampled_position.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/subjects/erased.hpp>
#include <draftproof/sim/drafters/sampled.hpp>
#include <draftproof/tests/support/example_rows.hpp>
#include <draftproof/tests/support/wrong_verifiers.hpp>

namespace draftproof {
namespace {

/// A verifier whose verdict is a function of (draft tuple, trial), for faults that no registered mutant has.
class Contrived final : public AnyVerifier {
 public:
  using Rule =
      std::function<Verdict(const RatioTable&, Token* drafts, int count, std::uint64_t seed, std::uint64_t trial)>;
  explicit Contrived(Rule rule) : AnyVerifier(info_, Kind::mutant), rule_{std::move(rule)} {}

  DeciderPtr<Rows<Rational>, Explorer<Rational>> prove_on(const Rows<Rational>&, int) const override { return {}; }
  DeciderPtr<Rows<double>, Explorer<double>> explore_on(const Rows<double>&, int) const override { return {}; }
  DeciderPtr<RatioTable, Explorer<double>> explore_on(const RatioTable&, int) const override { return {}; }
  DeciderPtr<FreshRows<double>, Explorer<double>> explore_on(const FreshRows<double>&, int) const override {
    return {};
  }
  DeciderPtr<Rows<double>, Scripted> scripted_on(const Rows<double>&, int) const override { return {}; }
  DeciderPtr<RatioTable, Scripted> scripted_on(const RatioTable&, int) const override { return {}; }
  DeciderPtr<RatioTable, Philox> simulate_on(const RatioTable& distributions, int) const override {
    struct Deciding final : Decider<RatioTable, Philox> {
      Deciding(const Rule& r, const RatioTable& l) : rule{r}, distributions{l} {}
      void decide(const TrialBatch& batch, Verdict* verdicts) const override {
        for (int t = 0; t < batch.count; ++t)
          verdicts[t] = rule(distributions, batch.drafts + t * batch.stride, batch.lengths[t], batch.seed,
                             batch.first + static_cast<std::uint64_t>(t));
      }
      const Rule& rule;
      const RatioTable& distributions;
    };
    return std::make_unique<Deciding>(rule_, distributions);
  }

 private:
  static constexpr Info info_{.name = "contrived", .summary = "", .source = ""};
  Rule rule_;
};

/// Draws from p through weights that need a pass over the vocabulary in every trial.
struct OwnWeights {
  static constexpr Info info{.name = "own_weights",
                             .summary = "a draw from p by a pass",
                             .source = "this test",
                             .drafts = DraftSamplings{"iid"},
                             .unsupported = {.device = "of a test"}};
  template <Position P, RandomSource R>
  Verdict verify(const P& at, R& random) const {
    return matched(at, random.emit(at.weights([&at](Token x) { return at.target(x); })));
  }
};

/// Returns a draw from p with this trial's random bits.
Token from_target(const RatioTable& distributions, std::uint64_t seed, std::uint64_t trial) {
  Philox random(seed, trial, Philox::Role::verify);
  return distributions.residual(0).draw(random.next(Purpose::emit));
}

const std::vector<double>& gated_target() {
  static const auto row = examples::random_row(3, 300, 1);
  return row;
}
const RatioTable& gated_table() {
  static const RatioTable made(gated_target(), {examples::random_row(4, 300, 1)});
  return made;
}

SampledVerdict gate(const AnyVerifier& verifier, std::string_view distribution, int drafts, double trials = 0x1p17,
                    int threads = 0) {
  return sampled_gate(verifier, *registry().drafter(distribution), gated_table(), gated_table(), drafts,
                      {.trials = trials, .alpha = 1e-9, .seed = 7, .threads = threads});
}
SampledVerdict gate(std::string_view name, std::string_view distribution, int drafts, double trials = 0x1p17,
                    int threads = 0) {
  return gate(*registry().verifier(name), distribution, drafts, trials, threads);
}

std::string_view strongest(const SampledVerdict& verdict) {
  return std::max_element(verdict.components.begin(), verdict.components.end(),
                          [](const auto& a, const auto& b) { return a.log_e < b.log_e; })
      ->name;
}

TEST(SampledGate, RightVerifiersPass) {
  for (const auto& [name, distribution] : {std::pair{"recursive_rejection", "iid"},
                                           {"k_seq", "iid"},
                                           {"ladder", "iid"},
                                           {"sample_and_match", "iid"},
                                           {"naive_tree", "iid"},
                                           {"recursive_rejection_wor", "without_replacement"}}) {
    const auto verdict = gate(name, distribution, 3);
    EXPECT_EQ(verdict.state, GateState::ok) << name << " log e " << verdict.log_e << " by " << strongest(verdict);
    EXPECT_FALSE(verdict.undecided);
    EXPECT_GE(verdict.exposure, 0x1p17);
  }
}

TEST(SampledGate, WrongVerifiersFailAndNameATrial) {
  for (const auto& [name, distribution] : {std::pair{"resample_from_target", "iid"},
                                           {"no_residual_update", "iid"},
                                           {"lenience", "iid"},
                                           {"resorted_drafts", "iid"}}) {
    const auto verdict = gate(name, distribution, 3);
    EXPECT_EQ(verdict.state, GateState::failed) << name << " log e " << verdict.log_e;
    EXPECT_LT(verdict.exposure, 0x1p17) << name << ": stops once the verdict is clear";
    ASSERT_TRUE(verdict.worst);
    EXPECT_TRUE(verdict.worst->observed == 0 || verdict.example) << name;
  }
}

TEST(SampledGate, SameVerdictForAnyNumberOfThreads) {
  const auto one = gate("recursive_rejection", "iid", 2, 0x1p15, 1),
             three = gate("recursive_rejection", "iid", 2, 0x1p15, 3);
  EXPECT_EQ(one.log_e, three.log_e);
  EXPECT_EQ(one.trials, three.trials);
  EXPECT_EQ(one.acceptance, three.acceptance);
}

TEST(SampledGate, NeighboursSeeTrialsThatKnowEachOther) {
  // Every odd trial repeats the trial before it, but each single trial has distribution p.
  const Contrived echo([](const RatioTable& distributions, Token*, int, std::uint64_t seed, std::uint64_t trial) {
    return Verdict{from_target(distributions, seed, trial & ~std::uint64_t{1}), none_accepted};
  });
  const auto verdict = gate(echo, "iid", 2);
  EXPECT_EQ(verdict.state, GateState::failed);
  EXPECT_EQ(strongest(verdict), "serial_dependence");
}

TEST(SampledGate, OptimumSeesWhatIsTooGoodToBeTrue) {
  // The verifier replaces the first draft by the token that it draws from p, so every emitted token is a draft.
  const Contrived boaster(
      [](const RatioTable& distributions, Token* drafts, int, std::uint64_t seed, std::uint64_t trial) {
        const Token x = from_target(distributions, seed, trial);
        drafts[0] = x;
        return Verdict{x, none_accepted};
      });
  const auto verdict = sampled_gate(boaster, *registry().drafter("without_replacement"), gated_table(), gated_table(),
                                    2, {.trials = 0x1p16, .alpha = 1e-9, .seed = 7});
  EXPECT_EQ(verdict.state, GateState::failed);
  EXPECT_EQ(strongest(verdict), "optimum");
}

/// A drafter that declares the proposal as the distribution of its drafts, but draws them from the target.
struct FromTarget {
  static constexpr DrafterInfo info{.name = "from_target", .summary = "", .shared_proposal_iid = true};
  template <Distributions L, RandomSource R>
  int draw(const L& distributions, int drafts, R& random, Token* out) const {
    for (int k = 0; k < drafts; ++k) out[k] = random.pick(distributions.residual(distributions.zero()));
    return drafts;
  }
  template <class L>
  static typename L::Scalar mass(const L& distributions, int drafts, const Token* prefix, int count) {
    return drafters::Iid::mass(distributions, drafts, prefix, count);
  }
};

TEST(SampledGate, DraftsAreHeldAgainstTheirProposal) {
  // The verifier draws from p, which is exact for any drafts, so only the drafts are wrong.
  const Contrived honest([](const RatioTable& distributions, Token*, int, std::uint64_t seed, std::uint64_t trial) {
    return Verdict{from_target(distributions, seed, trial), none_accepted};
  });
  const DrafterOf<FromTarget> drafter;
  const auto verdict =
      sampled_gate(honest, drafter, gated_table(), gated_table(), 2, {.trials = 0x1p15, .alpha = 1e-9, .seed = 7});
  EXPECT_EQ(verdict.state, GateState::failed);
  for (const auto& component : verdict.components)
    if (component.name == "drafts") {
      EXPECT_GT(component.log_e, std::log(1e9));
    }
}

TEST(SampledGate, BranchesOfProbabilityZeroFailWhateverElse) {
  const Contrived lost([](const RatioTable& distributions, Token*, int, std::uint64_t seed, std::uint64_t trial) {
    return trial % 1000 == 999 ? Verdict{} : Verdict{from_target(distributions, seed, trial), none_accepted};
  });
  EXPECT_GT(gate(lost, "iid", 2).impossible, 0u);
}

TEST(Gates, SayWhatHeldAndWhatDidNot) {
  GateOptions options{.source = "zipf:vocabulary=200", .drafts = 2};
  options.profile.instances = 60;
  options.profile.log2_trials = 15;
  const auto status = [&](std::string_view name, Tier tier) {
    return run_gate({.verifier = registry().verifier(name), .tier = tier}, options);
  };
  EXPECT_EQ(status("single_draft", Tier::proof).status, Status::passed);
  EXPECT_EQ(status("single_draft", Tier::sampled).status, Status::passed);
  for (const Tier tier : {Tier::proof, Tier::sampled}) {
    const auto result = status("resample_from_target", tier);
    EXPECT_EQ(result.status, Status::failed);
    for (const auto& finding : result.findings)
      if (finding.status == Status::failed) {
        EXPECT_NE(finding.replay.find("draftproof "), std::string::npos);
      }
  }
  // The verifier is lossy by design, so its distance from p is not a failure.
  const auto lossy = status("typical_best", Tier::proof);
  EXPECT_NE(lossy.status, Status::failed);
  EXPECT_NE(lossy.note.find("lossy by design"), std::string::npos);
}

TEST(RunGate, ExceptionsOfAVerifierAndVerdictsThatDoNotExistAreFindings) {
  registry();
  const auto evidence = [](const AnyVerifier& verifier) {
    const GateResult result =
        run_gate({.verifier = &verifier, .tier = Tier::sampled}, {.source = "zipf:vocabulary=40"});
    EXPECT_EQ(result.status, Status::failed);
    return result.findings.back().evidence;
  };
  EXPECT_EQ(evidence(VerifierOf<wrong_verifiers::Throws>(Kind::verifier)), "trouble of its own");
  EXPECT_EQ(evidence(VerifierOf<wrong_verifiers::ThrowsANumber>(Kind::verifier)),
            "the verifier threw an object that is not a std::exception");
  EXPECT_EQ(
      evidence(VerifierOf<wrong_verifiers::EmitsOutside>(Kind::verifier)).rfind("a verdict has token 1000040", 0),
      0u);
  EXPECT_NE(evidence(VerifierOf<wrong_verifiers::AcceptsOutside>(Kind::verifier)).find("and draft 1000000"),
            std::string::npos);
}

TEST(SampledPosition, ShrinksTheVocabularyToWhatItsPassesCost) {
  const VerifierOf<OwnWeights> verifier(Kind::verifier);
  GateOptions options{.drafts = 2};
  options.profile.log2_trials = 12;
  options.profile.log2_tokens = 12 + 10;  // 1,024 tokens a trial
  const auto sampled = [&](const AnyVerifier& of) {
    return sample_position({.verifier = &of, .tier = Tier::sampled}, *registry().drafter("iid"), options);
  };
  const SampledPosition found = sampled(verifier);
  ASSERT_TRUE(found.finding);
  EXPECT_EQ(found.finding->status, Status::passed);
  EXPECT_EQ(found.finding->property, "distribution of 2 drafts at V = 1024");
  EXPECT_EQ(found.note, "V = 1024 instead of 32000, because a trial makes 1.0 passes over the vocabulary");
  // Trials of this scheme only search in tables, which does not count as a pass, so V is not reduced.
  const SampledPosition tables = sampled(*registry().verifier("recursive_rejection"));
  ASSERT_TRUE(tables.finding);
  EXPECT_EQ(tables.finding->property, "distribution of 2 drafts at V = 32000");
  EXPECT_TRUE(tables.note.empty()) << tables.note;
  options.profile.log2_tokens = 12 + 15;
  EXPECT_TRUE(sampled(verifier).note.empty());
}

}  // namespace
}  // namespace draftproof
