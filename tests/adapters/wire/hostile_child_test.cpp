// Children that do wrong: each is a DoorError, or a row with a status, in bounded time and memory, and no process of
// it is left.
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/adapters/wire/wire_program.hpp>
#include <draftproof/tests/support/doors_wire.hpp>
#include <draftproof/tests/support/hostile.hpp>

namespace draftproof::adapters {
namespace {

using namespace wired;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::string hostile_child(const std::string& kind) { return child_command("hostile.py", kind); }

struct Opening {
  std::string kind;
  std::vector<std::string> parts;
};

TEST(HostileChild, IsRefusedAtItsHello) {
  const MarkedProcesses marked;
  const std::vector<Opening> openings{
      {"silent", {"hello", "no answer in 1 s", "read so far: nothing"}},
      {"short silence", {"no answer in 1 s", "3 bytes", "hi"}},
      {"dies at start", {"exit code 3", "no such model"}},
      {"prints first", {"no JSON", "Loading the model"}},
      {"endless hello", {"more than 1048576 bytes"}},
      {"huge hello", {"a frame of 1152921504606846976 bytes"}},
      {"version 2", {"version: found 2.0, wanted 1.x"}},
  };
  for (const Opening& opening : openings) {
    SCOPED_TRACE(opening.kind);
    WireOptions options = marked.options();
    if (opening.kind.find("silen") != std::string::npos) options.hello_limit = std::chrono::seconds(1);
    const auto start = Clock::now();
    expect_parts(error_of([&] { WireProgram(hostile_child(opening.kind), options); }), opening.parts);
    EXPECT_LT(seconds_since(start), 10);
    marked.expect_none();
  }
  expect_parts(error_of([&] { WireProgram("/no/such/program", marked.options()); }), {"exit code 127", "not found"});
  marked.expect_none();
}

TEST(HostileChild, IsNamedWithRowFieldFoundAndWanted) {
  const MarkedProcesses marked;
  const std::vector<Opening> wrongs{
      {"token out of range", {"row 0: tokens: entry 0: found 4, wanted 0 .. 3"}},
      {"negative token", {"row 0: tokens: entry 0: found -2"}},
      {"no padding", {"row 7: tokens: entry 2: found 0, wanted -1 after the 1"}},
      {"counts beyond", {"row 0: counts: found 4, wanted 1 .. 3"}},
      {"no tokens", {"row 0: counts: found 0, wanted 1 .. 3"}},
      {"wrong shape", {"counts: found i32 [7], wanted i32 [8]"}},
      {"wrong type", {"tokens: found f32 [8, 3], wanted i32 [8, 3]"}},
      {"unknown status", {"row 0: status: found 6, wanted 0 .. 5"}},
      {"nan weights", {"row 0: weights of draw", "found nan, wanted a finite number"}},
      {"negative weights", {"row 0: weights of draw", "found -1, wanted a finite number"}},
      {"too few weights", {"row 7: weights: found"}},
      {"unknown kind", {"row 0: draws: kind: found 9, wanted 1 .. 4"}},
      {"unknown stream", {"row 0: draws: stream: found 2, wanted -1 .. "}},
      {"log sum", {"found", "draws", "wanted"}},
      {"log beyond", {"row 0: draw_counts: found 4, wanted 0 .. 3"}},
      {"no type", {"reply: type: found \"\", wanted result or error"}},
      {"no tensor", {"tokens: found nothing"}},
  };
  std::mt19937 random(12);
  std::vector<Input> inputs;
  std::vector<Call> calls;
  for (std::size_t i = 0; i < 8; ++i) {
    inputs.push_back(random_input(random, 4, 2));
    inputs.back().p[0] = {0.25, 0.25, 0.25, 0.25};
    inputs.back().q[0] = {0.0, 0.5, 0.5, 0.0};
    inputs.back().drafts[0] = 1;
    calls.push_back({i, {0.75, 0.0, 0.0}});
  }
  for (const Opening& wrong : wrongs) {
    SCOPED_TRACE(wrong.kind);
    WireProgram program(hostile_child(wrong.kind), marked.options());
    Runs runs(calls.size());
    expect_parts(error_of([&] { program.run(inputs, calls, runs); }), wrong.parts);
  }
  marked.expect_none();
}

TEST(HostileChild, TheRowThatKillsIsFoundAndOthersAreUnharmed) {
  const MarkedProcesses marked;
  for (const auto& [kind, part] : std::map<std::string, std::string>{
           {"crashes", "signal 11 (Segmentation fault)"}, {"exits", "exit code 7"}, {"garbage", "no message"}}) {
    SCOPED_TRACE(kind);
    WireProgram program(hostile_child(kind), marked.options());
    expect_only_struck(program, {37}, RowStatus::crashed, part);
    EXPECT_GE(program.incidents().size(), 6u);
  }
  {
    WireProgram program(hostile_child("crashes"), marked.options());
    expect_only_struck(program, {5, 20, 41}, RowStatus::crashed, "about to die");
    expect_error([&] { expect_only_struck(program, {7}, RowStatus::crashed, ""); }, "3 rows that kill the program");
  }
  marked.expect_none();
}

TEST(HostileChild, WhatIsNotAnsweredInTimeHasNoVerdict) {
  const MarkedProcesses marked;
  WireOptions options = marked.options();
  options.batch_limit = std::chrono::milliseconds(700);
  for (const std::size_t row : {0u, 2u, 3u}) {
    WireProgram program(hostile_child("hangs"), options);
    RandomCalls set(4, 4, 2, 11);
    strike(set, row);
    expect_error<ProgramSilent>([&] { runs_of(program, set); },
                                fmt::format("^did not answer within 0.7 s on drafts ({}) at V = 4; --door-limit "
                                            "SECONDS gives it more$",
                                            fmt::join(set.inputs[row].drafts, " ")));
    expect_only_struck(program, {}, RowStatus::ok, "", 4);  // it is started again
  }
  options.batch_limit = std::chrono::milliseconds(300);
  {
    const RandomCalls set(2, 4, 2, 13);
    WireProgram program(hostile_child("hangs in company"), options);
    for (int i = 0; i < 2; ++i) runs_of(program, set);
    expect_error<ProgramSilent>([&] { runs_of(program, set); },
                                "^3 batches had no answer within 0.3 s, though each of their rows had; --door-limit "
                                "SECONDS gives it more$");
  }
  {
    WireProgram program(hostile_child("drips"), options);
    EXPECT_THROW(runs_of(program, RandomCalls(1, 4, 1, 14)), ProgramSilent);
  }
  marked.expect_none();
}

TEST(HostileChild, ARefusedRowDoesNotEndTheProcess) {
  const MarkedProcesses marked;
  {
    WireProgram program(hostile_child("refuses"), marked.options());
    expect_only_struck(program, {1, 9, 30, 31, 50}, RowStatus::failed, "cannot serve 0.75");
    EXPECT_TRUE(program.incidents().empty());
  }
  marked.expect_none();
}

TEST(HostileChild, AProgramThatStopsIsAskedNoMore) {
  const MarkedProcesses marked;
  WireProgram program(hostile_child("stops"), marked.options());
  expect_only_struck(program, {}, RowStatus::ok, "");
  RandomCalls set(60, 4, 2, 11);
  strike(set, 37);
  EXPECT_THROW(runs_of(program, set), ProgramSilent);
  // Rows that it would answer are not sent any more, and no other process is started.
  expect_error<ProgramSilent>([&] { runs_of(program, RandomCalls(4, 4, 2, 13)); }, "^interrupted$");
  EXPECT_TRUE(program.incidents().empty());
  EXPECT_EQ(marked.count(), 1);
}

TEST(HostileChild, RowsThatWereChangedInPlaceAreNamed) {
  const MarkedProcesses marked;
  WireProgram program(hostile_child("overwrites"), marked.options());
  RandomCalls set(60, 4, 2, 11);
  const Runs wanted = runs_here(set);
  for (const std::size_t row : {5u, 37u}) strike(set, row);
  const Runs runs = runs_of(program, set);
  for (std::size_t i = 0; i < runs.size(); ++i) EXPECT_EQ(runs[i].overwrote, i == 5 || i == 37 ? "p, drafts" : "");
  EXPECT_EQ(runs[4].tokens, wanted[4].tokens);
}

TEST(HostileChild, AProgramThatAlwaysDiesIsGivenUp) {
  const MarkedProcesses marked;
  const RandomCalls set(4, 4, 2, 13);
  for (const std::string kind : {"always exits", "exits with company", "wrong id", "huge length", "endless",
                                 "endless frame", "closes stdout"}) {
    SCOPED_TRACE(kind);
    WireProgram program(hostile_child(kind), marked.options());
    const auto start = Clock::now();
    const auto act = [&] {
      for (int i = 0; i < 3; ++i) runs_of(program, set);
    };
    expect_error(act, kind == "exits with company" ? "no row alone" : "3 rows that kill the program");
    EXPECT_LT(seconds_since(start), 20);
  }
  marked.expect_none();
}

TEST(HostileChild, NoProcessIsLeft) {
  const MarkedProcesses marked;
  for (const std::string kind : {"forks", "forks away", "ignores SIGTERM", "stays", "loud", "multiplies"}) {
    SCOPED_TRACE(kind);
    const auto start = Clock::now();
    {
      WireProgram program(hostile_child(kind), marked.options());
      expect_only_struck(program, {}, RowStatus::ok, "", 10);
      EXPECT_GE(marked.count(), kind.starts_with("forks") ? 4 : 1);
    }
    EXPECT_LT(seconds_since(start), 10);
    marked.expect_none();
  }
}

TEST(HostileChild, TheRequestThatKillsIsKept) {
  const MarkedProcesses marked;
  const hostile::TemporaryDirectory directory;
  WireOptions options = marked.options();
  options.dump_folder = directory / "dumps";
  {
    WireProgram program(hostile_child("crashes"), options);
    expect_only_struck(program, {37}, RowStatus::crashed, "signal 11");
  }
  expect_struck_row_kept(options.dump_folder);
  EXPECT_TRUE(std::filesystem::exists(options.dump_folder / "request.frame"));
}

}  // namespace
}  // namespace draftproof::adapters
