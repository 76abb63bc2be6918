// Programs that misbehave, as child processes or listeners: each fault gives an AdapterError or the status of a row
// within bounded time and memory, and no child process is left.
#include <csignal>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/socket.h>

#include <draftproof/adapters/wire/wire_program.hpp>
#include <draftproof/tests/support/adapters_listener.hpp>
#include <draftproof/tests/support/adapters_wire.hpp>
#include <draftproof/tests/support/hostile.hpp>

namespace draftproof::adapters {
namespace {

using namespace wired;
using Clock = std::chrono::steady_clock;
using Parts = std::vector<std::string>;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::string hostile_child(const std::string& kind) { return child_command("hostile.py", kind); }

/// A verifier that answers as ChainVerifier does, and misbehaves on a row with p[0][0] = 0.75.
class StruckChain final : public ChainVerifier {
 public:
  StruckChain(std::string kind, int connection) : kind_(std::move(kind)), connection_(connection) {}
  void verify(const ServedBatch& batch, ServedResult& result) override {
    for (int row = 0; row < batch.rows; ++row)
      if (batch.target<float>(row, 0)[0] == 0.75f) act();
    ChainVerifier::verify(batch, result);
  }

 private:
  void act() const {
    if (kind_ == "dies") std::raise(SIGKILL);
    if (kind_ == "closes") ::shutdown(connection_, SHUT_RDWR);
    if (kind_ == "is silent") ::pause();
    if (kind_ == "garbage") {
      const std::string bytes("\x10\0\0\0\0\0\0\0no safetensors..", 24);
      if (::write(connection_, bytes.data(), bytes.size()) < 0) std::_Exit(1);
    }
    if (kind_ == "all end") {
      const pid_t listener = ::getppid();
      ::kill(listener, SIGKILL);
      while (::getppid() == listener) ::usleep(1000);
      std::_Exit(1);
    }
  }
  std::string kind_;
  int connection_;
};

Listener::Serve struck_chain(const std::string& kind) {
  return [kind](int connection, int, pid_t) {
    StruckChain chain(kind, connection);
    try {
      serve(chain, connection, connection);
    } catch (const AdapterError&) {  // the host has closed the connection, so the listener ends
    }
  };
}

/// A program with this fault: a child, or a listener that lives as long as this object.
struct HostileProgram {
  HostileProgram(bool listens, const std::string& kind) {
    if (listens) listener = std::make_unique<Listener>(struck_chain(kind));
    address = listens ? address_of(*listener) : Address(hostile_child(kind));
  }
  std::unique_ptr<Listener> listener;
  Address address{""};
};

TEST(LostProgram, IsRefusedAtItsHello) {
  const MarkedProcesses marked;
  const auto refused = [&](const Address& address, const std::string& kind, const Parts& parts) {
    SCOPED_TRACE(kind);
    WireOptions options = marked.options();
    // "short silence" must start and print "hi" before the limit, even on a loaded machine.
    if (kind.find("silen") != std::string::npos) options.hello_limit = std::chrono::seconds(kind == "silent" ? 1 : 4);
    const auto start = Clock::now();
    expect_parts(error_of([&] { WireProgram(address, options); }), parts);
    EXPECT_LT(seconds_since(start), 10);
    marked.expect_none();
  };
  for (const auto& [kind, parts] : std::vector<std::pair<std::string, Parts>>{
           {"silent", {"hello", "no answer in 1 s", "read so far: nothing"}},
           {"short silence", {"no answer in 4 s", "3 bytes", "hi"}},
           {"dies at start", {"exit code 3", "no such model"}},
           {"prints first", {"no JSON", "Loading the model", "nothing printed before it"}},
           {"endless hello", {"more than 1048576 bytes"}},
           {"huge hello", {"a frame of 1152921504606846976 bytes"}},
           {"version 2", {"version: got 2.0, expected 1.x"}}})
    refused(hostile_child(kind), kind, parts);
  refused("/no/such/program", "missing", {"exit code 127", "not found"});
  WireOptions options = marked.options();
  const auto connected = [&](const std::string& path, const Parts& parts) {
    expect_parts(error_of([&] { WireProgram(Address{Address::Kind::socket, path}, options); }), parts);
  };
  connected("/no/such/socket", {"socket:/no/such/socket: connect: got No such file or directory"});
  connected(std::string(200, 'x'), {"path: got 200 bytes, expected at most 107"});
  Listener gone(struck_chain(""));
  gone.stop();
  connected(gone.path(), {"connect: got Connection refused"});
  options.hello_limit = std::chrono::milliseconds(300);
  connected(Listener([](int, int, pid_t) {}).path(), {"hello: got the program closed the connection"});
  connected(Listener([](int, int, pid_t) { ::pause(); }).path(), {"no answer in 0.3 s (read so far: nothing)"});
  const auto prints = [](int connection, int, pid_t) {
    if (::write(connection, "Loading the model ..\n", 21) < 0) std::_Exit(1);
    ::pause();
  };
  connected(Listener(prints).path(), {"no JSON", "and nothing sent before it"});
}

TEST(LostProgram, IsNamedWithRowFieldFoundAndWanted) {
  const MarkedProcesses marked;
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
  for (const auto& [kind, parts] : std::vector<std::pair<std::string, Parts>>{
           {"token out of range", {"row 0: tokens: entry 0: got 4, expected 0 .. 3"}},
           {"negative token", {"row 0: tokens: entry 0: got -2"}},
           {"no padding", {"row 7: tokens: entry 2: got 0, expected -1, because counts is 1"}},
           {"counts beyond", {"row 0: counts: got 4, expected 1 .. 3"}},
           {"no tokens", {"row 0: counts: got 0, expected 1 .. 3"}},
           {"wrong shape", {"counts: got i32 [7], expected i32 [8]"}},
           {"wrong type", {"tokens: got f32 [8, 3], expected i32 [8, 3]"}},
           {"unknown status", {"row 0: status: got 6, expected 0 .. 5"}},
           {"nan weights", {"row 0: weights of draw", "got nan, expected a finite number"}},
           {"negative weights", {"row 0: weights of draw", "got -1, expected a finite number"}},
           {"too few weights", {"row 7: weights: got"}},
           {"unknown kind", {"row 0: draws: kind: got 9, expected 1 .. 4"}},
           {"unknown stream", {"row 0: draws: stream: got 2, expected -1 .. "}},
           {"log sum", {"got", "draws", "expected"}},
           {"log beyond", {"row 0: draw_counts: got 4, expected 0 .. 3"}},
           {"no type", {"reply: type: got \"\", expected result or error"}},
           {"no tensor", {"tokens: got nothing"}}}) {
    SCOPED_TRACE(kind);
    WireProgram program(hostile_child(kind), marked.options());
    Runs runs(calls.size());
    expect_parts(error_of([&] { program.run(inputs, calls, runs); }), parts);
  }
  marked.expect_none();
}

TEST(LostProgram, TheRowThatKillsIsFoundAndKeptAndOthersAreUnharmed) {
  const MarkedProcesses marked;
  const hostile::TemporaryDirectory directory;
  struct Case {
    bool listens;
    std::string kind, part;
    std::size_t row;
  };
  for (const auto& [listens, kind, part, row] :
       std::vector<Case>{{false, "crashes", "signal 11 (Segmentation fault)", 37},
                         {false, "exits", "exit code 7", 37},
                         {false, "garbage", "no message", 37},
                         {true, "dies", "the program closed the connection", 2},
                         {true, "closes", "the program closed the connection", 2},
                         {true, "garbage", "no message", 2}}) {
    SCOPED_TRACE(kind);
    const HostileProgram hostile(listens, kind);
    WireOptions options = marked.options();
    options.dump_folder = directory / (kind + (listens ? " listens" : ""));
    WireProgram program(hostile.address, options);
    expect_only_struck(program, {row}, RowStatus::crashed, part);
    EXPECT_GE(program.incidents().size(), 5u);
    expect_struck_row_kept(options.dump_folder);
    EXPECT_TRUE(std::filesystem::exists(options.dump_folder / "request.frame"));
  }
  for (const bool listens : {false, true}) {
    const HostileProgram hostile(listens, listens ? "dies" : "crashes");
    WireProgram program(hostile.address, marked.options());
    expect_only_struck(program, {5, 20, 41}, RowStatus::crashed, listens ? "closed the connection" : "about to die");
    expect_parts(error_of([&] { expect_only_struck(program, {7}, RowStatus::crashed, ""); }),
                 listens
                     ? Parts{hostile.address.name() + ": got 3 rows that end the connection", "and one more loss: "}
                     : Parts{"3 rows that kill the program", "and one more death: "});
  }
  marked.expect_none();
}

TEST(LostProgram, WhatIsNotAnsweredInTimeHasNoVerdict) {
  const MarkedProcesses marked;
  WireOptions options = marked.options();
  options.batch_limit = std::chrono::milliseconds(700);
  for (const auto& [listens, row] :
       std::vector<std::pair<bool, std::size_t>>{{false, 0}, {false, 2}, {false, 3}, {true, 2}}) {
    const HostileProgram hostile(listens, listens ? "is silent" : "hangs");
    WireProgram program(hostile.address, options);
    RandomCalls set(4, 4, 2, 11);
    strike(set, row);
    expect_error<ProgramSilent>(
        [&] { runs_of(program, set); },
        fmt::format("^did not answer within 0.7 s on drafts ({}) at V = 4; --adapter-limit SECONDS allows more$",
                    fmt::join(set.inputs[row].drafts, " ")));
    expect_only_struck(program, {}, RowStatus::ok, "", 4);  // the program is started again
  }
  options.batch_limit = std::chrono::milliseconds(300);
  {
    const RandomCalls set(2, 4, 2, 13);
    WireProgram program(hostile_child("hangs in company"), options);
    for (int i = 0; i < 2; ++i) runs_of(program, set);
    expect_error<ProgramSilent>([&] { runs_of(program, set); },
                                "^3 batches had no answer within 0.3 s, though each row alone had one; "
                                "--adapter-limit SECONDS allows more$");
  }
  {
    WireProgram program(hostile_child("drips"), options);
    EXPECT_THROW(runs_of(program, RandomCalls(1, 4, 1, 14)), ProgramSilent);
  }
  marked.expect_none();
}

TEST(LostProgram, BatchesWithoutAResultWhoseRowsHaveOneAreKnown) {
  const MarkedProcesses marked;
  const RandomCalls set(4, 4, 2, 13);
  for (const auto& [kind, text] : {std::pair{"refuses company", "4 rows: refused: out of memory"},
                                   {"exits with company", "4 rows: exit code 7"}}) {
    SCOPED_TRACE(kind);
    WireProgram program(hostile_child(kind), marked.options());
    for (const std::size_t batches : {1u, 2u}) {
      runs_of(program, set);
      ASSERT_EQ(program.unexplained().size(), batches);
      EXPECT_EQ(program.unexplained().back(), text);
    }
  }
  {
    WireProgram program(hostile_child("refuses"), marked.options());
    expect_only_struck(program, {1}, RowStatus::failed, "cannot serve 0.75");
    EXPECT_TRUE(program.unexplained().empty());
  }
  marked.expect_none();
}

TEST(LostProgram, ARequestToStopEndsTheWaitForAnAnswer) {
  const MarkedProcesses marked;
  WireOptions options = marked.options();
  options.hello_limit = options.batch_limit = std::chrono::hours(1);
  std::atomic<bool> stop = false;
  options.stop = &stop;
  {
    WireProgram program(hostile_child("hangs"), options);
    RandomCalls set(4, 4, 2, 11);
    strike(set, 2);
    const std::jthread later([&stop] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      stop = true;
    });
    for (int i = 0; i < 2; ++i)  // later requests are not sent
      expect_error<ProgramSilent>([&] { runs_of(program, set); }, "^stopped before the program answered$");
  }
  expect_error<ProgramSilent>([&] { WireProgram(hostile_child("silent"), options); }, "^stopped before");
  stop = false;
  WireProgram program(hostile_child("right"), options);
  stop = true;
  expect_only_struck(program, {}, RowStatus::ok, "", 4);  // because the answer comes within two seconds
}

TEST(LostProgram, AProgramThatListensNoLongerOrIsAnotherIsADoorError) {
  const MarkedProcesses marked;
  const auto refused = [&](const Listener::Serve& each, const std::string& words) {
    const Listener listener(each);
    WireProgram program(address_of(listener), marked.options());
    expect_error([&] { expect_only_struck(program, {3}, RowStatus::crashed, ""); }, words);
  };
  refused(struck_chain("all end"), "connect: got Connection refused, expected a program that listens");
  const auto renamed = [](int connection, int before, pid_t) {
    struct Renamed final : ChainVerifier {
      explicit Renamed(int number) : mine(ChainVerifier::declaration()) { mine.name += std::to_string(number); }
      const Declaration& declaration() const override { return mine; }
      void verify(const ServedBatch&, ServedResult&) override { std::_Exit(1); }
      Declaration mine;
    } chain(before);
    serve(chain, connection, connection);
  };
  refused(renamed, "another declaration after a new connection");
}

TEST(LostProgram, AProgramThatLivesIsNotStartedAgain) {
  const MarkedProcesses marked;
  RandomCalls set(60, 4, 2, 11);
  const Runs wanted = runs_here(set);
  {
    WireProgram program(hostile_child("refuses"), marked.options());
    expect_only_struck(program, {1, 9, 30, 31, 50}, RowStatus::failed, "cannot serve 0.75");
    EXPECT_TRUE(program.incidents().empty());
  }
  for (const std::size_t row : {5u, 37u}) strike(set, row);
  {
    WireProgram program(hostile_child("overwrites"), marked.options());
    const Runs runs = runs_of(program, set);
    for (std::size_t i = 0; i < runs.size(); ++i) EXPECT_EQ(runs[i].overwrote, i == 5 || i == 37 ? "p, drafts" : "");
    EXPECT_EQ(runs[4].tokens, wanted[4].tokens);
  }
  WireProgram program(hostile_child("stops"), marked.options());
  expect_only_struck(program, {}, RowStatus::ok, "");
  EXPECT_THROW(runs_of(program, set), ProgramSilent);
  // After the error that stopped the program, no rows are sent, not even rows that it would answer, and no other
  // process is started.
  expect_error<ProgramSilent>([&] { runs_of(program, RandomCalls(4, 4, 2, 13)); }, "^interrupted$");
  EXPECT_TRUE(program.incidents().empty());
  EXPECT_EQ(marked.count(), 1);
}

TEST(LostProgram, AProgramThatAlwaysDiesIsGivenUp) {
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
    const bool dies = kind == "always exits" || kind == "closes stdout";
    expect_error(act, kind == "exits with company" ? "no row alone"
                      : dies                       ? "3 rows that kill the program"
                                                   : "3 rows without a valid answer");
    EXPECT_LT(seconds_since(start), 20);
  }
  marked.expect_none();
}

TEST(LostProgram, NoProcessAndNoDescriptorIsLeft) {
  const MarkedProcesses marked;
  const auto descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  const auto before = descriptors();
  for (const std::string kind : {"forks", "forks away", "ignores SIGTERM", "stays", "loud", "multiplies"}) {
    SCOPED_TRACE(kind);
    const auto start = Clock::now();
    {
      WireProgram program(hostile_child(kind), marked.options());
      expect_only_struck(program, {}, RowStatus::ok, "", 10);
      const int some = kind.starts_with("forks") ? 4 : 1;  // a grandchild may start after the answer
      while (marked.count() < some && seconds_since(start) < 5)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      EXPECT_GE(marked.count(), some);
    }
    EXPECT_LT(seconds_since(start), 10);
    marked.expect_none();
    EXPECT_EQ(descriptors(), before);
  }
}

}  // namespace
}  // namespace draftproof::adapters
