// Helpers for tests of the wire protocol: commands that start the children in tests/adapters/children, or this test
// program as its child; inputs and tapes; and the expectation that no process is left.
#pragma once

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <draftproof/adapters/wire/wire_program.hpp>
#include <draftproof/tests/support/adapters_chain.hpp>
#include <draftproof/tests/support/adapters_served.hpp>
#include <draftproof/tests/support/hostile.hpp>

namespace draftproof::adapters::wired {

inline constexpr const char* serving_variable = "DRAFTPROOF_TEST_SERVES_CHAIN";

/// If the environment variable `variable` is set, serves `of(value)`, then ends the process before any test runs.
/// Returns false if the variable is not set.
template <class Of>
bool serves_and_ends(const char* variable, Of of) {
  const char* const value = std::getenv(variable);
  if (!value) return false;
  try {
    const std::unique_ptr<Served> served = of(value);
    serve(*served);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    std::_Exit(1);
  }
  std::_Exit(0);
}
inline const bool serves_chain = serves_and_ends(serving_variable, [](const std::string&) {
  std::cout << "printed before hello\n";
  return std::make_unique<ChainVerifier>();
});

/// Returns the command that starts this test program as a child that serves.
inline std::string this_program(const char* variable, const std::string& value) {
  return fmt::format("{}='{}' exec '{}'", variable, value, std::filesystem::read_symlink("/proc/self/exe").string());
}
inline std::string served_chain_command() { return this_program(serving_variable, "1"); }

inline std::string child_command(const std::string& script, const std::string& argument) {
  return "exec python3 -BES '" DRAFTPROOF_SOURCE_DIR "/tests/adapters/children/" + script + "' '" + argument + "'";
}

/// Marks the processes of one test with an environment variable, and counts the marked processes that run.
class MarkedProcesses {
 public:
  MarkedProcesses() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    value_ = std::to_string(getpid()) + "_" + test->test_suite_name() + "_" + test->name();
  }
  WireOptions options() const {
    WireOptions result;
    result.hello_limit = std::chrono::seconds(20);
    result.batch_limit = std::chrono::seconds(20);
    result.child = child();
    return result;
  }
  ChildOptions child() const {
    ChildOptions result;
    result.environment = {{"DRAFTPROOF_TEST_MARK", value_}};
    return result;
  }
  int count() const {
    const std::string mark = "DRAFTPROOF_TEST_MARK=" + value_;
    int found = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      std::ifstream stream(entry.path() / "environ", std::ios::binary);
      const std::string text{std::istreambuf_iterator<char>(stream), {}};
      if (text.find(mark) != std::string::npos) ++found;
    }
    return found;
  }
  void expect_none() const {
    EXPECT_EQ(count(), 0);
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
  }

 private:
  std::string value_;
};

/// Returns a distribution over `v` tokens in multiples of 1/16; some probabilities may be zero.
inline std::vector<double> random_distribution(std::mt19937& random, int v) {
  std::vector<double> distribution(static_cast<std::size_t>(v), 0.0);
  for (int i = 0; i < 16; ++i) distribution[random() % distribution.size()] += 1.0 / 16;
  return distribution;
}

inline Input random_input(std::mt19937& random, int v, int drafts) {
  Input input;
  for (int i = 0; i <= drafts; ++i) input.p.push_back(random_distribution(random, v));
  for (int i = 0; i < drafts; ++i) {
    input.q.push_back(random_distribution(random, v));
    input.drafts.push_back(static_cast<Token>(random() % static_cast<unsigned>(v)));
  }
  return input;
}

/// A set of `count` inputs of 0 to `most_drafts` drafts, each with a tape that may be too short. strike() marks rows by
/// p[0][0] = 0.75, so no input has this value.
struct RandomCalls {
  std::vector<Input> inputs;
  std::vector<Call> calls;

  RandomCalls(int count, int v, int most_drafts, unsigned seed) {
    std::mt19937 random(seed);
    while (inputs.size() < static_cast<std::size_t>(count)) {
      Input input = random_input(random, v, static_cast<int>(random() % static_cast<unsigned>(most_drafts + 1)));
      if (!input.drafts.empty() && random() % 8 == 0) {  // the draft has p = 0, and the residual is zero everywhere
        input.p[0].assign(input.p[0].size(), 0.0);
        input.p[0][1] = 1;
        input.q[0] = input.p[0];
        input.drafts[0] = 0;
      }
      if (input.p[0][0] == 0.75) continue;
      Call call{.input = inputs.size()};
      const std::size_t places = input.drafts.size() + 1 - (random() % 8 == 0 ? 1 : 0);
      for (std::size_t i = 0; i < places; ++i) call.tape.push_back(static_cast<double>(random() % 1024) / 1024);
      if (!call.tape.empty() && random() % 4 == 0) call.tape.back() = -1.0 - static_cast<double>(random() % 2);
      inputs.push_back(std::move(input));
      calls.push_back(std::move(call));
    }
  }
};

using Runs = std::vector<Run>;  // needed because in a test body `Run` names a member of testing::Test

/// Returns the runs of the chain verifier in this process, one call at a time.
inline Runs runs_here(const RandomCalls& set, Dtype dtype = Dtype::float32) {
  ChainVerifier verifier;
  Runs runs(set.calls.size());
  ServedProgram(verifier, 1, dtype).run(set.inputs, set.calls, runs);
  return runs;
}
inline Runs runs_of(Program& program, const RandomCalls& set) {
  Runs runs(set.calls.size());
  program.run(set.inputs, set.calls, runs);
  return runs;
}

inline void expect_equal_runs(const std::vector<Run>& found, const std::vector<Run>& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].status, wanted[i].status) << i << " " << found[i].message;
    EXPECT_EQ(found[i].tokens, wanted[i].tokens) << i;
    EXPECT_EQ(found[i].draws, wanted[i].draws) << i;
    EXPECT_EQ(found[i].message, wanted[i].message) << i << " " << static_cast<int>(wanted[i].status);
  }
}

/// Sets p[0][0] of a row to 0.75, the mark on which hostile children misbehave.
inline void strike(RandomCalls& set, std::size_t row) {
  auto& distribution = set.inputs[row].p[0];
  distribution.assign(distribution.size(), 0.0);
  distribution[0] = 0.75;
  distribution[1] = 0.25;
}

/// Expects that the rows `struck`, marked by strike(), get `status` and a message with `part`, and that all other rows
/// have the results of a run in this process.
inline void expect_only_struck(WireProgram& program, const std::vector<std::size_t>& struck, RowStatus status,
                               const std::string& part, int rows = 60, int v = 4) {
  RandomCalls set(rows, v, 2, 11);
  Runs wanted = runs_here(set);
  for (const std::size_t row : struck) strike(set, row);
  Runs found = runs_of(program, set);
  for (const std::size_t row : struck) {
    EXPECT_EQ(found[row].status, status);
    expect_parts(found[row].message, {part});
    EXPECT_TRUE(found[row].tokens.empty() && found[row].draws.empty());
    found[row] = wanted[row] = {};
  }
  expect_equal_runs(found, wanted);
}

/// Expects that the folder has the request that crashed the program, which contains only the row marked by strike(),
/// with its p.
inline void expect_struck_row_kept(const std::filesystem::path& folder) {
  const std::string bytes = hostile::read_all(folder / "crash-1.frame");
  ASSERT_GT(bytes.size(), 8u);
  const Message kept = decode_blob(std::as_bytes(std::span(bytes)).subspan(8), "kept");
  EXPECT_FALSE(kept.fields.contains("shared"));
  const Tensor* const p = kept.find("p");
  ASSERT_NE(p, nullptr);
  EXPECT_EQ(p->as<float>()[0], 0.75f);
  EXPECT_EQ(p->shape[0], 1u);
}

}  // namespace draftproof::adapters::wired
