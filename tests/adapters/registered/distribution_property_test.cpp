// A property of the emitted distribution is one struct, and is checked on every kind of subject: compiled schemes of
// positions and of paths, a scheme behind the C interface, a C library, a child process and a function in Python.
#include <draftproof/properties/prover/distribution_property.hpp>

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <draftproof/adapters/gate/distribution_checks.hpp>
#include <draftproof/adapters/open_adapter.hpp>
#include <draftproof/properties/prover/path_prover.hpp>
#include <draftproof/properties/prover/prover.hpp>
#include <draftproof/properties/subjects/path_erased.hpp>
#include <draftproof/tests/support/adapters_wire.hpp>
#include <draftproof/tests/support/wrong_schemes.hpp>

namespace draftproof {
namespace {

struct FirstToken {
  static constexpr std::string_view name = "first_token";
  static constexpr std::string_view about = "the first token that is emitted has the distribution p";

  static std::optional<std::string> violation(const EmittedDistribution& emitted) {
    std::vector<Rational> first(static_cast<std::size_t>(emitted.vocabulary));
    for (const auto& [tokens, probability] : emitted.emitted)
      first[static_cast<std::size_t>(tokens.front())] += probability;
    const std::vector<Rational> target = emitted.target({});
    for (std::size_t x = 0; x < first.size(); ++x)
      if (first[x] > target[x] + emitted.limit || first[x] < target[x] - emitted.limit)
        return fmt::format("token {} comes first with probability {:.4f}, expected {:.4f}", x,
                           static_cast<double>(first[x]), static_cast<double>(target[x]));
    return std::nullopt;
  }
};

[[maybe_unused]] const bool registered = [] {
  register_distribution_property<FirstToken>();
  return true;
}();

const ProofOptions few{.instances = 60, .property = "first_token"};

template <class Proof>
const Finding& asked(const Proof& proof) {
  EXPECT_EQ(proof.findings.size(), 1u);
  return proof.findings.at(0);
}

void expect_failed(const Finding& finding) {
  EXPECT_EQ(finding.status, Status::failed);
  EXPECT_NE(finding.evidence.find("comes first with probability"), std::string::npos) << finding.evidence;
  EXPECT_NE(finding.replay.find(finding.instance), std::string::npos) << finding.replay;
  EXPECT_LE(finding.instance.size(), 40u) << "the smallest model: " << finding.instance;
}

TEST(DistributionProperty, IsAskedOfCompiledSchemesOfAPosition) {
  const AnyDrafter& iid = *registry().drafter("iid");
  EXPECT_EQ(asked(prove(*registry().verifier("recursive_rejection"), iid, few)).passed, 60);
  expect_failed(asked(prove(*registry().verifier("resample_from_target"), iid, few)));
}

TEST(DistributionProperty, IsAskedOfCompiledSchemesOfPaths) {
  const AnyTreeDrafter& paths = *path_registry().drafter("iid_paths");
  EXPECT_EQ(asked(prove(*path_registry().verifier("token_path"), paths, few)).passed, 60);
  expect_failed(asked(prove(PathVerifierOf<wrong::AcceptAlways>(Kind::mutant), paths, few)));
}

TEST(DistributionProperty, IsRegisteredOnceByName) {
  EXPECT_THROW(register_distribution_property<FirstToken>(), std::logic_error);
}

}  // namespace

namespace adapters {
namespace {

Finding asked_of(Program& program, const Declaration& declaration) {
  const DistributionChecks checks = check_distributions(program, declaration, {.instances = 20, .adapter = "mine"});
  return finding_of(checks.findings, "first_token");
}
/// Expects that `right`, of token verification, passed, and that `wrong`, of a program with a bug, failed.
void expect_told_apart(const Finding& right, const Finding& wrong) {
  EXPECT_EQ(right.status, Status::passed) << right.evidence;
  EXPECT_GT(right.work, 0u);
  expect_failed(wrong);
}

Finding asked_of_served(const std::string& adapter) {
  const auto served = served_here(adapter);
  ServedProgram program(*served);
  return asked_of(program, served->declaration());
}

TEST(DistributionProperty, IsAskedOfASchemeBehindADoor) {
  expect_told_apart(asked_of_served("built-in:recursive_rejection"),
                    asked_of_served("built-in:resample_from_target"));
}

TEST(DistributionProperty, IsAskedOfACLibrary) {
  expect_told_apart(asked_of_served("lib:" DRAFTPROOF_ADAPTER_EXAMPLE), asked_of_served("abi:resample_from_target"));
}

TEST(DistributionProperty, IsAskedOfAChildProcessAndOfAFunctionInPython) {
  const wired::MarkedProcesses marked;
  const auto asked_of_child = [&](const std::string& command) {
    WireProgram program(command, marked.options());
    return asked_of(program, program.declaration());
  };
  const std::string serve = "exec '" DRAFTPROOF_PROGRAM "' serve ";
  expect_told_apart(asked_of_child(serve + "token_path"), asked_of_child(serve + "resample_from_target_tree"));
  const std::string python = "exec python3 -BES '" DRAFTPROOF_SOURCE_DIR "/examples/adapter/";
  expect_told_apart(asked_of_child(python + "verifier_json.py'"),
                    asked_of_child(python + "wrong_verifier.py' residual_of_p"));
}

}  // namespace
}  // namespace adapters
}  // namespace draftproof
