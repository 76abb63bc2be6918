// The state of successive calls on the wire, in both forms.
#include <draftproof/doors/wire/wire_program.hpp>

#include <gtest/gtest.h>

#include <draftproof/doors/own/serve_registered.hpp>
#include <draftproof/tests/support/doors_served_program.hpp>
#include <draftproof/tests/support/doors_wire.hpp>

namespace draftproof::doors {
namespace {

using namespace wired;

/// A seeded batch of `rows` chains of one draft at V = 2, with two numbers of state each.
struct StateBatch {
  std::vector<float> p, q;
  std::vector<std::int32_t> drafts, lengths;
  std::vector<std::int64_t> seeds;
  std::vector<double> state;
  ServedBatch batch{};

  explicit StateBatch(int rows) {
    const auto b = static_cast<std::size_t>(rows);
    p.assign(4 * b, .5F);
    q.assign(2 * b, .5F);
    drafts.assign(b, 1);
    lengths.assign(b, 1);
    seeds.assign(b, 7);
    for (std::size_t i = 0; i < b; ++i) state.insert(state.end(), {static_cast<double>(i), 0.1});
    batch = {.rows = rows,
             .vocabulary = 2,
             .drafts_a_row = 1,
             .target_rows = 2,
             .proposal_rows = 1,
             .state_size = 2,
             .randomness = Randomness::seeded,
             .p = std::as_bytes(std::span(p)),
             .q = std::as_bytes(std::span(q)),
             .drafts = drafts,
             .lengths = lengths,
             .seeds = seeds,
             .state = state};
  }
};

std::string state_command(const std::string& form, const std::string& fault) {
  return "exec python3 -BES '" DRAFTPROOF_SOURCE_DIR "/tests/doors/children/state.py' " + form + " " + fault;
}

TEST(WireState, ComesBackInBothForms) {
  const MarkedProcesses marked;
  for (const std::string form : {"frames", "lines"}) {
    SCOPED_TRACE(form);
    WireOptions options = marked.options();
    WireProgram program(state_command(form, "right"), options);
    EXPECT_EQ(program.declaration().state_size, 2);
    const StateBatch rows(5000);  // more than most_rows: asked in parts
    ServedResult result;
    program.verify_batch(rows.batch, result);
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
  const auto refusal = [&](const std::string& form, const std::string& fault) -> std::string {
    WireProgram program(state_command(form, fault), marked.options());
    ServedResult result;
    try {
      program.verify_batch(StateBatch(3).batch, result);
    } catch (const DoorError& error) {
      return error.what();
    }
    return "none";
  };
  for (const std::string form : {"frames", "lines"}) {
    EXPECT_EQ(refusal(form, "missing"), "result: state: found nothing, wanted f64 [3, 2]");
    EXPECT_EQ(refusal(form, "narrow"), "result: state: found f64 [3, 1], wanted f64 [3, 2]");
  }
  EXPECT_EQ(refusal("frames", "infinite"), "result: row 0: state: entry 0: found inf, wanted a finite number");
  marked.expect_none();
}

TEST(WireState, AServedSchemeAgreesWithThisProcess) {
  const MarkedProcesses marked;
  WireProgram program("exec '" DRAFTPROOF_PROGRAM "' serve own:greedy_block", marked.options());
  const auto served = serve_registered("greedy_block");
  ServedProgram here(*served);
  std::mt19937 random(4);
  std::vector<Input> inputs;
  std::vector<Call> calls;
  for (int i = 0; i < 60; ++i) {
    inputs.push_back(
        {.p = {{.75, .25}, {.25, .75}, {.5, .5}, {.5, .5}}, .q = {{.5, .5}, {.5, .5}, {.25, .75}}, .drafts = {}});
    for (int k = 0; k < 3; ++k) inputs.back().drafts.push_back(static_cast<Token>(random() % 2));
    if (i % 2 == 1) {  // a layer over the next two tokens
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
  EXPECT_THROW(program.run(short_state, std::vector<Call>{{.input = 0, .tape = {.5}}}, run), DoorError);
}

}  // namespace
}  // namespace draftproof::doors
