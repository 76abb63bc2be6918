// Processes and connections as byte streams: exchanges in both directions with a deadline, how processes and
// connections end, and that no process or descriptor is left.
#include <draftproof/adapters/wire/process.hpp>

#include <array>
#include <thread>

#include <draftproof/tests/support/adapters_listener.hpp>
#include <draftproof/tests/support/adapters_wire.hpp>

namespace draftproof::adapters {
namespace {

using namespace wired;
using Exchange = Process::Exchange;

/// A sink for exactly `count` bytes.
class CountedBytes : public ByteSink {
 public:
  explicit CountedBytes(std::size_t count) : bytes_(count) {}
  std::span<std::byte> room() override { return std::span(bytes_).subspan(size_); }
  void filled(std::size_t count) override { size_ += count; }
  bool complete() const override { return size_ == bytes_.size(); }
  std::string text() const { return {reinterpret_cast<const char*>(bytes_.data()), size_}; }

 private:
  std::vector<std::byte> bytes_;
  std::size_t size_ = 0;
};

Process::Clock::time_point in_ms(int ms) { return Process::Clock::now() + std::chrono::milliseconds(ms); }

/// A child process that runs `sh -c`, marked by the test so that processes that are left can be found.
struct Child : Process {
  Child(const char* command, const MarkedProcesses& marked) : Process(Address(command), marked.child(), in_ms(0)) {}
};
struct Connection : Process {
  explicit Connection(const Listener& listener) : Process(address_of(listener), {}, in_ms(20'000)) {}
};

Exchange exchange(Process& process, std::string_view sent, ByteSink* sink, int ms = 20'000, std::size_t times = 1) {
  const std::vector<std::span<const std::byte>> parts(times, std::as_bytes(std::span(sent)));
  return process.exchange(parts, sink, in_ms(ms));
}

TEST(Process, BothPipesMayFill) {
  const MarkedProcesses marked;
  for (const std::size_t size : {std::size_t{10}, std::size_t{9'000'001}}) {
    Child child("cat", marked);
    std::string sent(size, ' ');
    std::mt19937 random(1);
    for (char& c : sent) c = static_cast<char>(random());
    CountedBytes reply(3 * size);
    EXPECT_EQ(exchange(child, sent, &reply, 20'000, 3), Exchange::done);
    EXPECT_TRUE(reply.text() == sent + sent + sent);
  }
  marked.expect_none();
}

TEST(Process, EndsAreToldApart) {
  const MarkedProcesses marked;
  for (const auto& [command, wanted] : std::vector<std::pair<const char*, const char*>>{
           {"exit 0", "exit code 0"},
           {"exit 3", "exit code 3"},
           {"kill -ABRT $$", "signal 6 (Aborted)"},
           {"sh -c 'kill -SEGV $$'; exit $?", "exit code 139 (128 + signal 11 (Segmentation fault))"},
           {"sleep 1000", "ended by the host"}}) {
    Child child(command, marked);
    EXPECT_EQ(child.ended(in_ms(command[1] == 'l' ? 50 : 5000)), command[1] != 'l') << command;
    for (int time = 0; time < 2; ++time) EXPECT_EQ(child.end(), wanted);
  }
  Process missing(std::vector<std::string>{"/no/such/program"}, marked.child());
  EXPECT_EQ(missing.end(), "not started: No such file or directory");
  marked.expect_none();
}

TEST(Process, AnEndIsNoSignalForTheHostAndStderrIsKeptToItsTail) {
  const MarkedProcesses marked;
  const std::string much(1 << 21, 'x');
  CountedBytes reply(1);
  Child dead("exec 0<&- 1>&-; echo last words >&2", marked);
  ASSERT_TRUE(dead.ended(in_ms(5000)));
  EXPECT_EQ(exchange(dead, much, &reply, 1000), Exchange::closed);
  dead.end();
  EXPECT_EQ(dead.error_tail(), "last words\n");
  const Listener closes([](int, int, pid_t) {});
  Connection connection(closes);
  ASSERT_TRUE(connection.ended(in_ms(20'000)));
  EXPECT_EQ(exchange(connection, much, nullptr), Exchange::closed);
  Child loud("i=0; while [ $i -lt 20000 ]; do echo line $i >&2; i=$((i+1)); done; echo x; sleep 1000", marked);
  EXPECT_EQ(exchange(loud, "", &reply), Exchange::done);
  loud.end();
  EXPECT_EQ(loud.error_tail().size(), 4096u);
  EXPECT_TRUE(loud.error_tail().ends_with("line 19999\n"));
}

TEST(Process, LimitsAreSetAndNoDescriptorIsInherited) {
  const MarkedProcesses marked;
  ChildOptions options = marked.child();
  options.most_memory = std::uint64_t{3} << 30;
  const Child other("sleep 1000", marked);
  Process child(
      Address("ulimit -v; ulimit -c; echo $(ls /proc/self/fd); echo $DRAFTPROOF_TEST_MARK; echo end; sleep 9"),
      options, in_ms(0));
  const std::string wanted = "3145728\n0\n0 1 2 3\n" + options.environment[0].second + "\nend\n";
  CountedBytes reply(wanted.size());  // Descriptor 3 is the folder that ls reads.
  exchange(child, "", &reply, 5000);
  EXPECT_EQ(reply.text(), wanted);
}

TEST(Process, OutlivesTheThreadThatStartedItButNotTheHost) {
  const MarkedProcesses marked;
  std::unique_ptr<Child> child;
  std::thread([&] { child = std::make_unique<Child>("cat", marked); }).join();
  CountedBytes reply(2);
  EXPECT_EQ(exchange(*child, "ab", &reply, 5000), Exchange::done);
  child.reset();
  const pid_t host = fork();
  if (host == 0) {
    new Child("sleep 1000 & setsid sleep 1000 & sleep 1000", marked);
    while (marked.count() < 3) usleep(1000);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(host, &status, 0), host);
  EXPECT_TRUE(WIFSIGNALED(status));
  for (int i = 0; i < 500 && marked.count() > 0; ++i) usleep(10'000);
  marked.expect_none();
}

TEST(Process, AProgramThatListensReadsAnEndOfFile) {
  const Listener listener([](int connection, int, pid_t) {
    char all[64];
    ssize_t size = 0, more = 0;
    while ((more = ::read(connection, all + size, sizeof all - static_cast<std::size_t>(size))) > 0) size += more;
    if (::write(connection, all, static_cast<std::size_t>(size)) < 0) std::_Exit(1);
  });
  Connection connection(listener);
  EXPECT_EQ(exchange(connection, "twelve bytes", nullptr), Exchange::done);
  EXPECT_FALSE(connection.ended(in_ms(50)));
  connection.close_input();
  CountedBytes reply(12);
  EXPECT_EQ(exchange(connection, "", &reply), Exchange::done);
  EXPECT_EQ(reply.text(), "twelve bytes");
  EXPECT_TRUE(connection.ended(in_ms(20'000)));
  for (int time = 0; time < 2; ++time) EXPECT_EQ(connection.end(), "the program closed the connection");
}

}  // namespace
}  // namespace draftproof::adapters
