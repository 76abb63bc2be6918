#include <draftproof/adapters/wire/wire_program.hpp>

#include <numeric>

#include <draftproof/adapters/built_in/serve_registered.hpp>
#include <draftproof/tests/support/adapters_listener.hpp>
#include <draftproof/tests/support/adapters_wire.hpp>

namespace draftproof::adapters {
namespace {

using namespace wired;

bool any_status(const Runs& runs, RowStatus status) {
  return std::any_of(runs.begin(), runs.end(), [status](const Run& run) { return run.status == status; });
}

TEST(WireProgram, ChildrenInBothFormsAgreeWithThisProcess) {
  const MarkedProcesses marked;
  const RandomCalls set(700, 5, 3, 1);
  const Runs wanted = runs_here(set);
  ASSERT_TRUE(any_status(wanted, RowStatus::tape_short));
  ASSERT_TRUE(any_status(wanted, RowStatus::no_mass));
  for (const std::string form : {"frames", "lines"}) {
    SCOPED_TRACE(form);
    WireProgram program(child_command("chain.py", form), marked.options());
    EXPECT_EQ(program.declaration().name, "chain.py");
    EXPECT_EQ(program.declaration().most_vocabulary, form == "lines" ? 64 : 0);
    expect_equal_runs(runs_of(program, set), wanted);
    expect_equal_runs(runs_of(program, set), wanted);
    if (form == "lines") continue;
    const RandomCalls large(64, 1500, 2, 32);
    expect_equal_runs(runs_of(program, large), runs_here(large));
    EXPECT_TRUE(program.incidents().empty());
  }
  marked.expect_none();
}

TEST(WireProgram, AnswersInEveryTypeAreThoseOfThisProcess) {
  const MarkedProcesses marked;
  WireOptions options = marked.options();
  for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
    options.dtype = dtype;
    WireProgram program(served_chain_command(), options);
    for (const auto& [calls, v] : {std::pair{300, 700}, {5000, 7}, {120, 3000}}) {
      const RandomCalls set(calls, v, 4, 31);
      expect_equal_runs(runs_of(program, set), runs_here(set, dtype));
    }
  }
  options.dtype = Dtype::float16;
  EXPECT_THROW(WireProgram(served_chain_command(), options), AdapterError);
  marked.expect_none();
  // A program that listens does not end with a connection, so two connections can follow each other.
  const Listener listener([](int connection, int, pid_t) {
    ChainVerifier chain;
    serve(chain, connection, connection);
  });
  const RandomCalls set(3000, 40, 5, 21);
  for (int connection = 0; connection < 2; ++connection) {
    WireProgram program(address_of(listener), marked.options());
    EXPECT_EQ(program.declaration().name, "chain");
    expect_equal_runs(runs_of(program, set), runs_here(set));
    EXPECT_TRUE(program.incidents().empty());
  }
}

TEST(WireProgram, ACallIsPlacedByItsInputNotByItsOrder) {
  const MarkedProcesses marked;
  RandomCalls three(40, 3, 2, 3), five(40, 5, 2, 4);
  RandomCalls mixed = three;
  for (std::size_t i = 0; i < five.inputs.size(); ++i) {
    mixed.inputs.push_back(five.inputs[i]);
    mixed.calls.insert(mixed.calls.begin(), {.input = mixed.inputs.size() - 1, .tape = five.calls[i].tape});
  }
  WireProgram program(served_chain_command(), marked.options());
  expect_equal_runs(runs_of(program, mixed), runs_here(mixed));
}

// After a slow batch later batches have half as many rows, but rows that must run together are not divided.
TEST(WireProgram, RowsTogetherAreOneBatchAfterASlowOne) {
  const MarkedProcesses marked;
  struct CountsRows final : ChainVerifier {
    void verify(const ServedBatch& batch, ServedResult& result) override {
      if (std::exchange(first_, false)) std::this_thread::sleep_for(std::chrono::milliseconds(2100));
      ChainVerifier::verify(batch, result);
      for (int row = 0; row < batch.rows; ++row) result.set(row, RowStatus::failed, std::to_string(batch.rows));
    }
    bool first_ = true;
  };
  const Listener listener([](int connection, int, pid_t) {
    CountsRows chain;
    serve(chain, connection, connection);
  });
  WireProgram program(address_of(listener), marked.options());
  const RandomCalls set(64, 3, 2, 5);
  Runs together(64);
  EXPECT_EQ(runs_of(program, set).front().message, "64");
  program.run_together(set.inputs, set.calls, together);
  EXPECT_EQ(together.front().message, "64");
  EXPECT_EQ(runs_of(program, set).front().message, "32");
}

TEST(WireProgram, SeedsDecideAndRowsComeInOrder) {
  const MarkedProcesses marked;
  ServedCall call(Level::chain, RandomCalls(300, 4, 2, 5).inputs);
  std::vector<std::int64_t> seeds(300);
  std::iota(seeds.begin(), seeds.end(), 0);
  seeds[7] = -5;
  ServedBatch batch = call.seeded(seeds);
  WireProgram program(served_chain_command(), marked.options());
  ServedResult found;
  program.verify(batch, found);
  ChainVerifier here;
  ServedResult wanted = call.run(here);
  EXPECT_EQ(found.status, wanted.status);
  for (int row = 0; row < batch.rows; ++row) EXPECT_EQ(tokens_in(found, row), tokens_in(wanted, row)) << row;
  batch.seeds = batch.seeds.first(10);
  EXPECT_THROW(program.verify(batch, found), AdapterError);
  batch.seeds = {};
  batch.randomness = Randomness::opaque;
  program.verify(batch, found);
  EXPECT_EQ(found.status, wanted.status);
}

TEST(WireProgram, DraftsAndGenerates) {
  const MarkedProcesses marked;
  WireProgram program(served_chain_command(), marked.options());
  const std::vector<float> distributions{0.5f, 0.5f, 0.0f, 0.0f, 0.0f, 1.0f};
  const std::vector<double> tape{0.25, 0.75, -2.0, 0.0, 0.5, -1.0};
  ServedBatch batch{.rows = 2, .vocabulary = 3, .drafts_a_row = 3, .proposal_rows = 1, .places = 3};
  batch.q = std::as_bytes(std::span(distributions));
  batch.tape = tape;
  ServedResult result;
  program.draft(batch, result);
  EXPECT_EQ(result.tokens, (std::vector<std::int32_t>{0, 1, 1, 2, 2, 0}));
  EXPECT_EQ(result.draws.size(), 2u);

  const std::vector<double> cycle{0, 1, 0, 0, 0, 1, 1, 0, 0};
  const ServedModels models{.vocabulary = 3, .length = 5, .drafts = 2, .seed = 9, .target = cycle, .proposal = cycle};
  EXPECT_EQ(program.generate(models), (std::vector<Token>{1, 2, 0, 1, 2}));
}

TEST(WireProgram, CallsBeyondTheLimitsAreUnsupported) {
  const MarkedProcesses marked;
  WireProgram program(child_command("chain.py", "lines"), marked.options());
  std::mt19937 random(6);
  const std::vector<Input> inputs{random_input(random, 65, 1), random_input(random, 64, 1)};
  const std::vector<Call> calls{{0, {0.0, 0.0}}, {1, {0.0, 0.0}}};
  Runs runs(2);
  program.run(inputs, calls, runs);
  EXPECT_EQ(runs[0].status, RowStatus::unsupported);
  EXPECT_NE(runs[0].message.find("got 65"), std::string::npos);
  EXPECT_NE(runs[1].status, RowStatus::unsupported);
}

TEST(WireProgram, InputsOfAnotherLevelAreRefused) {
  const MarkedProcesses marked;
  WireProgram program(served_chain_command(), marked.options());
  std::mt19937 random(7);
  const Input good = random_input(random, 3, 2);
  Runs runs(1);
  const auto refused = [&](auto change, const std::string& words) {
    std::vector<Input> inputs{good};
    change(inputs[0]);
    expect_error([&] { program.run(inputs, std::vector<Call>{{0, {0.0, 0.0, 0.0}}}, runs); }, words);
  };
  refused([](Input& input) { input.p.pop_back(); }, "rows of p: got 2, expected 3");
  refused([](Input& input) { input.q.pop_back(); }, "rows of q: got 1, expected 2");
  refused([](Input& input) { input.q[1].pop_back(); }, "entries of a row: got 2, expected 3");
  refused([](Input& input) { input.parents = {-1, 0}; }, "parents: got 2, expected 0");
}

/// A seeded batch of `rows` chains of one draft at V = 2, with two numbers of state each.
ServedCall state_rows(int rows) {
  std::vector<Input> inputs;
  for (int i = 0; i < rows; ++i)
    inputs.push_back(
        {.p = {{.5, .5}, {.5, .5}}, .q = {{.5, .5}}, .drafts = {1}, .state = {static_cast<double>(i), 0.1}});
  ServedCall call(Level::chain, inputs);
  call.seeded(std::vector<std::int64_t>(inputs.size(), 7));
  return call;
}

std::string state_command(const std::string& form, const std::string& fault) {
  return child_command("state.py", form) + " " + fault;
}

TEST(WireState, ComesBackInBothForms) {
  const MarkedProcesses marked;
  for (const std::string form : {"frames", "lines"}) {
    SCOPED_TRACE(form);
    WireProgram program(state_command(form, "right"), marked.options());
    EXPECT_EQ(program.declaration().state_size, 2);
    ServedResult result;
    program.verify(state_rows(5000).batch(), result);  // more rows than most_rows, so the batch is sent in parts
    ASSERT_EQ(result.state.size(), 10000u);
    for (const int row : {0, 1, 4095, 4096, 4999}) {
      EXPECT_EQ(result.state_of(row)[0], row + 1);
      EXPECT_EQ(result.state_of(row)[1], 1.0 / 3);
    }
  }
  marked.expect_none();
}

TEST(WireState, FaultsHaveFieldFoundAndWanted) {
  const MarkedProcesses marked;
  const auto refusal = [&](const std::string& form, const std::string& fault) {
    WireProgram program(state_command(form, fault), marked.options());
    ServedResult result;
    return error_of([&] { program.verify(state_rows(3).batch(), result); });
  };
  for (const std::string form : {"frames", "lines"}) {
    EXPECT_EQ(refusal(form, "missing"), "result: state: got nothing, expected f64 [3, 2]");
    EXPECT_EQ(refusal(form, "narrow"), "result: state: got f64 [3, 1], expected f64 [3, 2]");
  }
  EXPECT_EQ(refusal("frames", "infinite"), "result: row 0: state: entry 0: got inf, expected a finite number");
  marked.expect_none();
}

TEST(WireState, AServedSchemeAgreesWithThisProcess) {
  const MarkedProcesses marked;
  WireProgram program("exec '" DRAFTPROOF_PROGRAM "' serve built-in:greedy_block", marked.options());
  const auto served = serve_registered("greedy_block");
  ServedProgram here(*served);
  std::mt19937 random(4);
  std::vector<Input> inputs;
  std::vector<Call> calls;
  for (int i = 0; i < 60; ++i) {
    inputs.push_back(
        {.p = {{.75, .25}, {.25, .75}, {.5, .5}, {.5, .5}}, .q = {{.5, .5}, {.5, .5}, {.25, .75}}, .drafts = {}});
    for (int k = 0; k < 3; ++k) inputs.back().drafts.push_back(static_cast<Token>(random() % 2));
    if (i % 2 == 1) {  // a state whose layer covers the next two tokens
      inputs.back().state.assign(static_cast<std::size_t>(served->declaration().state_size), 0.0);
      inputs.back().state[0] = 2;
      inputs.back().state[1] = 4;
    }
    calls.push_back({.input = static_cast<std::size_t>(i), .tape = {}});
    for (int k = 0; k < 8; ++k) calls.back().tape.push_back(static_cast<double>(random() % 1024) / 1024);
  }
  Runs found(calls.size()), wanted(calls.size());
  program.run(inputs, calls, found);
  here.run(inputs, calls, wanted);
  bool any = false;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    EXPECT_EQ(found[i].status, RowStatus::ok) << found[i].message;
    EXPECT_EQ(found[i].tokens, wanted[i].tokens);
    EXPECT_EQ(found[i].state, wanted[i].state);
    for (const double number : found[i].state) any = any || number != 0;
  }
  EXPECT_TRUE(any);
  std::vector<Input> short_state{inputs[0]};
  short_state[0].state = {1};
  Runs run(1);
  EXPECT_THROW(program.run(short_state, std::vector<Call>{{.input = 0, .tape = {.5}}}, run), AdapterError);
}

}  // namespace
}  // namespace draftproof::adapters
