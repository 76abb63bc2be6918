// Helpers of the tests of the wire: commands for the children in tests/doors/children and for this very program as a
// child, inputs and tapes, and the expectation that no process is left.
#pragma once

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <draftproof/doors/wire/serve.hpp>
#include <draftproof/doors/wire/wire_program.hpp>
#include <draftproof/tests/support/doors_chain.hpp>

namespace draftproof::doors::wired {

inline constexpr const char* serving_variable = "DRAFTPROOF_TEST_SERVES_CHAIN";

/// In a process with the variable: serves the chain verifier, and ends before any test runs.
struct ServesChain {
  ServesChain() {
    if (!std::getenv(serving_variable)) return;
    std::cout << "printed before hello\n";
    ChainVerifier verifier;
    try {
      serve(verifier);
    } catch (const std::exception& error) {
      std::cerr << error.what() << '\n';
      std::_Exit(1);
    }
    std::_Exit(0);
  }
};
inline const ServesChain serves_chain;

inline std::string served_chain_command() {
  return std::string(serving_variable) + "=1 exec '" + std::filesystem::read_symlink("/proc/self/exe").string() + "'";
}

inline std::string child_command(const std::string& script, const std::string& argument) {
  return "exec python3 -BES '" DRAFTPROOF_SOURCE_DIR "/tests/doors/children/" + script + "' '" + argument + "'";
}

/// Marks the processes of one test and counts those that live.
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

/// Laws of multiples of 1/16 over `v` tokens, some of them zero.
inline std::vector<double> random_law(std::mt19937& random, int v) {
  std::vector<double> law(static_cast<std::size_t>(v), 0.0);
  for (int i = 0; i < 16; ++i) law[random() % law.size()] += 1.0 / 16;
  return law;
}

inline Input random_input(std::mt19937& random, int v, int drafts) {
  Input input;
  for (int i = 0; i <= drafts; ++i) input.p.push_back(random_law(random, v));
  for (int i = 0; i < drafts; ++i) {
    input.q.push_back(random_law(random, v));
    input.drafts.push_back(static_cast<Token>(random() % static_cast<unsigned>(v)));
  }
  return input;
}

/// `count` inputs of 0 to `most_drafts` drafts, none with p[0][0] = 0.75, and a tape for each that may be too short.
struct RandomCalls {
  std::vector<Input> inputs;
  std::vector<Call> calls;

  RandomCalls(int count, int v, int most_drafts, unsigned seed) {
    std::mt19937 random(seed);
    while (inputs.size() < static_cast<std::size_t>(count)) {
      Input input = random_input(random, v, static_cast<int>(random() % static_cast<unsigned>(most_drafts + 1)));
      if (!input.drafts.empty() && random() % 8 == 0) {  // a draft of probability zero, and no residual
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

using Runs = std::vector<Run>;  // in a test, Run is another name

/// The runs of the chain verifier in this process, one call at a time.
inline std::vector<Run> runs_here(const RandomCalls& set, Dtype dtype = Dtype::float32) {
  ChainVerifier verifier;
  std::vector<Run> runs;
  PackedBatch packed;
  for (std::size_t i = 0; i < set.calls.size(); ++i) {
    pack_calls(set.inputs, set.calls, std::vector{i}, {.dtype = dtype}, packed);
    ServedResult result;
    size_result(packed.batch, WireFunction::verify, result);
    verifier.verify(packed.batch, result);
    Run run{.status = static_cast<RowStatus>(result.status[0])};
    run.tokens.assign(result.tokens.begin(), result.tokens.begin() + result.counts[0]);
    if (!result.messages.empty()) run.message = result.messages[0];
    const auto draws = result.log.draws();
    std::size_t weight = 0;
    for (std::size_t d = 0; d < draws.size(); d += 4) {
      Draw draw{static_cast<DrawKind>(draws[d]),
                draws[d + 1],
                draws[d + 2],
                result.log.streams()[static_cast<std::size_t>(draws[d + 3])],
                {}};
      if (draw.kind == DrawKind::pick)
        for (int cell = 0; cell < draw.size; ++cell) draw.weights.push_back(result.log.weights()[weight++]);
      run.draws.push_back(std::move(draw));
    }
    runs.push_back(std::move(run));
  }
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

inline void expect_parts(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
}

/// Makes a row one on which hostile programs do wrong.
inline void strike(RandomCalls& set, std::size_t row) {
  auto& law = set.inputs[row].p[0];
  law.assign(law.size(), 0.0);
  law[0] = 0.75;
  law[1] = 0.25;
}

/// Runs with `struck` rows; they have `status` and a message with `part`, the others are as in this process.
inline void expect_only_struck(WireProgram& program, const std::vector<std::size_t>& struck, RowStatus status,
                               const std::string& part, int rows = 60) {
  RandomCalls set(rows, 4, 2, 11);
  Runs wanted = runs_here(set);
  for (const std::size_t row : struck) strike(set, row);
  Runs found(set.calls.size());
  program.run(set.inputs, set.calls, found);
  for (const std::size_t row : struck) {
    EXPECT_EQ(found[row].status, status);
    expect_parts(found[row].message, {part});
    EXPECT_TRUE(found[row].tokens.empty() && found[row].draws.empty());
    found[row] = wanted[row] = {};
  }
  expect_equal_runs(found, wanted);
}

}  // namespace draftproof::doors::wired
