// A program that listens: the same wire, and a lost connection is a row's status like a dead child.
#include <draftproof/adapters/wire/socket_peer.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <map>

#include <sys/socket.h>

#include <draftproof/tests/support/doors_listener.hpp>
#include <draftproof/tests/support/doors_wire.hpp>

namespace draftproof::adapters {
namespace {

using namespace wired;

WireOptions short_limits() {
  WireOptions options;
  options.hello_limit = options.batch_limit = std::chrono::seconds(20);
  return options;
}

Address address_of(const Listener& listener) { return {Address::Kind::socket, listener.path()}; }

/// Answers as ChainVerifier does, and does wrong on a row with p[0][0] = 0.75.
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
    } catch (const DoorError&) {  // the host has closed the connection
    }
  };
}

TEST(SocketPeer, AnswersAsAChildDoes) {
  const Listener listener(struck_chain(""));
  const RandomCalls set(3000, 40, 5, 21);
  for (int connection = 0; connection < 2; ++connection) {  // the program outlives each connection
    WireProgram program(address_of(listener), short_limits());
    EXPECT_EQ(program.declaration().name, "chain");
    expect_equal_runs(runs_of(program, set), runs_here(set));
    EXPECT_TRUE(program.incidents().empty());
  }
}

TEST(SocketPeer, ConnectsAgainAndFindsTheRow) {
  const std::map<std::string, std::string> kinds{{"dies", "the program closed the connection"},
                                                 {"closes", "the program closed the connection"},
                                                 {"garbage", "no message"}};
  for (const auto& [kind, part] : kinds) {
    SCOPED_TRACE(kind);
    const Listener listener(struck_chain(kind));
    WireProgram program(address_of(listener), short_limits());
    expect_only_struck(program, {2}, RowStatus::crashed, part);
    EXPECT_GE(program.incidents().size(), 5u);
  }
}

TEST(SocketPeer, ARowWithoutAnAnswerHasNoVerdict) {
  const Listener listener(struck_chain("is silent"));
  WireOptions options = short_limits();
  options.batch_limit = std::chrono::milliseconds(400);
  WireProgram program(address_of(listener), options);
  EXPECT_THROW(expect_only_struck(program, {2}, RowStatus::crashed, "", 4), ProgramSilent);
  expect_only_struck(program, {}, RowStatus::ok, "", 4);
}

TEST(SocketPeer, AfterThreeRowsTheProgramIsGivenUp) {
  const Listener listener(struck_chain("dies"));
  WireProgram program(address_of(listener), short_limits());
  expect_only_struck(program, {5, 20, 41}, RowStatus::crashed, "closed the connection");
  expect_parts(error_of([&] { expect_only_struck(program, {7}, RowStatus::crashed, ""); }),
               {"socket:" + listener.path() + ": found 3 rows that end the connection", "and another loss: "});
}

TEST(SocketPeer, AProgramThatListensNoLongerIsADoorError) {
  const Listener listener(struck_chain("all end"));
  WireProgram program(address_of(listener), short_limits());
  expect_error([&] { expect_only_struck(program, {3}, RowStatus::crashed, ""); },
               "connect: found Connection refused, wanted a program that listens");
}

TEST(SocketPeer, AnotherDeclarationIsADoorError) {
  const Listener listener([](int connection, int before, pid_t) {
    struct Renamed final : ChainVerifier {
      explicit Renamed(int number) : mine(ChainVerifier::declaration()) { mine.name += std::to_string(number); }
      const Declaration& declaration() const override { return mine; }
      void verify(const ServedBatch&, ServedResult&) override { std::_Exit(1); }
      Declaration mine;
    } chain(before);
    serve(chain, connection, connection);
  });
  WireProgram program(address_of(listener), short_limits());
  expect_error([&] { expect_only_struck(program, {}, RowStatus::ok, ""); },
               "another declaration after a new connection");
}

TEST(SocketPeer, BadOpenings) {
  WireOptions options = short_limits();
  const auto refused = [&](const std::string& path, const std::vector<std::string>& parts) {
    expect_parts(error_of([&] { WireProgram(Address{Address::Kind::socket, path}, options); }), parts);
  };
  const auto answers = [&](const Listener::Serve& each, const std::vector<std::string>& parts) {
    const Listener listener(each);
    refused(listener.path(), parts);
  };
  refused("/no/such/socket", {"socket:/no/such/socket: connect: found No such file or directory"});
  refused(std::string(200, 'x'), {"path: found 200 bytes, wanted at most 107"});
  Listener gone(struck_chain(""));
  gone.stop();
  refused(gone.path(), {"connect: found Connection refused"});
  answers([](int, int, pid_t) {}, {"hello: found the program closed the connection"});  // closes at once
  answers(
      [](int connection, int, pid_t) {
        if (::write(connection, "Loading the model ..\n", 21) < 0) std::_Exit(1);
        ::pause();
      },
      {"no JSON", "and nothing sent before it"});
  options.hello_limit = std::chrono::milliseconds(300);
  answers([](int, int, pid_t) { ::pause(); }, {"no answer in 0.3 s (read so far: nothing)"});
}

TEST(SocketPeer, AClosedConnectionIsNoSignalForTheHost) {
  const Listener listener([](int, int, pid_t) {});  // closes at once
  const auto deadline = Peer::Clock::now() + std::chrono::seconds(20);
  SocketPeer peer(listener.path(), deadline);
  ASSERT_TRUE(peer.ended(deadline));
  const std::string sent = "twelve bytes";
  const std::vector<std::span<const std::byte>> parts{std::as_bytes(std::span(sent))};
  EXPECT_EQ(peer.exchange(parts, nullptr, deadline), Peer::Exchange::closed);
}

TEST(SocketPeer, TheProgramReadsAnEndOfFile) {
  const Listener listener([](int connection, int, pid_t) {
    char all[64];
    ssize_t size = 0, more = 0;
    while ((more = ::read(connection, all + size, sizeof all - static_cast<std::size_t>(size))) > 0) size += more;
    if (::write(connection, all, static_cast<std::size_t>(size)) < 0) std::_Exit(1);
  });
  SocketPeer peer(listener.path(), Peer::Clock::now() + std::chrono::seconds(20));
  const std::string sent = "twelve bytes";
  const std::vector<std::span<const std::byte>> parts{std::as_bytes(std::span(sent))};
  const auto deadline = Peer::Clock::now() + std::chrono::seconds(20);
  EXPECT_EQ(peer.exchange(parts, nullptr, deadline), Peer::Exchange::done);
  EXPECT_FALSE(peer.ended(Peer::Clock::now() + std::chrono::milliseconds(50)));
  peer.close_input();
  struct Twelve final : ReplySink {
    std::array<std::byte, 12> bytes{};
    std::size_t size = 0;
    std::span<std::byte> room() override { return std::span(bytes).subspan(size); }
    void filled(std::size_t count) override { size += count; }
    bool complete() const override { return size == bytes.size(); }
  } reply;
  EXPECT_EQ(peer.exchange({}, &reply, deadline), Peer::Exchange::done);
  EXPECT_TRUE(std::equal(reply.bytes.begin(), reply.bytes.end(), parts[0].begin()));
  EXPECT_TRUE(peer.ended(deadline));
  EXPECT_EQ(peer.end(), "the program closed the connection");
  EXPECT_EQ(peer.end(), "the program closed the connection");
}

}  // namespace
}  // namespace draftproof::adapters
