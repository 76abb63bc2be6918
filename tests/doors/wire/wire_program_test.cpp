#include <draftproof/doors/wire/wire_program.hpp>

#include <numeric>

#include <draftproof/tests/support/doors_wire.hpp>

namespace draftproof::doors {
namespace {

using namespace wired;

Runs runs_of(WireProgram& program, const RandomCalls& set) {
  Runs runs(set.calls.size());
  program.run(set.inputs, set.calls, runs);
  return runs;
}

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
  }
  marked.expect_none();
}

TEST(WireProgram, AServedProgramAgreesInEachDtype) {
  const MarkedProcesses marked;
  const RandomCalls set(5000, 7, 4, 2);
  for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
    WireOptions options = marked.options();
    options.dtype = dtype;
    WireProgram program(served_chain_command(), options);
    expect_equal_runs(runs_of(program, set), runs_here(set, dtype));
  }
  WireOptions options = marked.options();
  options.dtype = Dtype::float16;
  EXPECT_THROW(WireProgram(served_chain_command(), options), DoorError);
  marked.expect_none();
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

TEST(WireProgram, SeedsDecideAndRowsComeInOrder) {
  const MarkedProcesses marked;
  const RandomCalls set(300, 4, 2, 5);
  std::vector<std::size_t> all(set.calls.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  PackedBatch packed;
  pack_calls(set.inputs, set.calls, all, {}, packed);
  std::vector<std::int64_t> seeds(all.begin(), all.end());
  seeds[7] = -5;
  ServedBatch batch = packed.batch;
  batch.randomness = Randomness::seeded;
  batch.tape = {};
  batch.seeds = seeds;
  WireProgram program(served_chain_command(), marked.options());
  ServedResult found, wanted;
  program.verify_batch(batch, found);
  ChainVerifier here;
  size_result(batch, WireFunction::verify, wanted);
  here.verify(batch, wanted);
  EXPECT_EQ(found.status, wanted.status);
  EXPECT_EQ(found.counts, wanted.counts);
  for (int row = 0; row < batch.rows; ++row) {
    const auto count = static_cast<std::size_t>(found.counts[static_cast<std::size_t>(row)]);
    const auto emitted = found.tokens_of(row).first(count), here_emitted = wanted.tokens_of(row).first(count);
    EXPECT_TRUE(std::equal(emitted.begin(), emitted.end(), here_emitted.begin())) << row;
  }
  batch.seeds = batch.seeds.first(10);
  EXPECT_THROW(program.verify_batch(batch, found), DoorError);
  batch.seeds = {};
  batch.randomness = Randomness::opaque;
  program.verify_batch(batch, found);
  EXPECT_EQ(found.status, wanted.status);
}

TEST(WireProgram, DraftsAndGenerates) {
  const MarkedProcesses marked;
  WireProgram program(served_chain_command(), marked.options());
  const std::vector<float> laws{0.5f, 0.5f, 0.0f, 0.0f, 0.0f, 1.0f};
  const std::vector<double> tape{0.25, 0.75, -2.0, 0.0, 0.5, -1.0};
  ServedBatch batch{.rows = 2, .vocabulary = 3, .drafts_a_row = 3, .proposal_rows = 1, .places = 3};
  batch.q = std::as_bytes(std::span(laws));
  batch.tape = tape;
  ServedResult result;
  program.draft(batch, result);
  EXPECT_EQ(result.tokens, (std::vector<std::int32_t>{0, 1, 1, 2, 2, 0}));
  EXPECT_EQ(result.log.counts().size(), 2u);

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
  EXPECT_NE(runs[0].message.find("found 65"), std::string::npos);
  EXPECT_NE(runs[1].status, RowStatus::unsupported);
}

TEST(WireProgram, InputsOfAnotherLevelAreRefused) {
  const MarkedProcesses marked;
  WireProgram program(served_chain_command(), marked.options());
  std::mt19937 random(7);
  const Input good = random_input(random, 3, 2);
  Runs runs(1);
  const auto refused = [&](auto change, const std::string& part) {
    std::vector<Input> inputs{good};
    change(inputs[0]);
    const std::vector<Call> calls{{0, {0.0, 0.0, 0.0}}};
    try {
      program.run(inputs, calls, runs);
      ADD_FAILURE() << part;
    } catch (const DoorError& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  refused([](Input& input) { input.p.pop_back(); }, "rows of p: found 2, wanted 3");
  refused([](Input& input) { input.q.pop_back(); }, "rows of q: found 1, wanted 2");
  refused([](Input& input) { input.q[1].pop_back(); }, "entries of a row: found 2, wanted 3");
  refused([](Input& input) { input.parents = {-1, 0}; }, "parents: found 2, wanted 0");
}

}  // namespace
}  // namespace draftproof::doors
