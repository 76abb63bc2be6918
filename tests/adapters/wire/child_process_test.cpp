#include <draftproof/adapters/wire/child_process.hpp>

#include <thread>

#include <draftproof/adapters/declaration.hpp>
#include <draftproof/tests/support/doors_wire.hpp>

namespace draftproof::adapters {
namespace {

using namespace wired;

/// Takes a number of bytes.
class CountedBytes : public ReplySink {
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

ChildProcess::Clock::time_point in_ms(int ms) { return ChildProcess::Clock::now() + std::chrono::milliseconds(ms); }

TEST(ChildProcess, BothPipesMayFill) {
  const MarkedProcesses marked;
  for (const std::size_t size : {std::size_t{10}, std::size_t{9'000'001}}) {
    ChildProcess child("cat", marked.child());
    std::string sent(size, ' ');
    std::mt19937 random(1);
    for (char& c : sent) c = static_cast<char>(random());
    CountedBytes reply(3 * size);
    const std::vector<std::span<const std::byte>> parts(3, std::as_bytes(std::span(sent)));
    EXPECT_EQ(child.exchange(parts, &reply, in_ms(20'000)), ChildProcess::Exchange::done);
    EXPECT_TRUE(reply.text() == sent + sent + sent);
  }
  marked.expect_none();
}

TEST(ChildProcess, EndsAreToldApart) {
  const MarkedProcesses marked;
  const auto end_of = [&](const std::string& command) {
    ChildProcess child(command, marked.child());
    child.ended(in_ms(5000));
    return child.end();
  };
  EXPECT_EQ(end_of("exit 0"), "exit code 0");
  EXPECT_EQ(end_of("exit 3"), "exit code 3");
  EXPECT_EQ(end_of("kill -ABRT $$"), "signal 6 (Aborted)");
  EXPECT_EQ(end_of("sh -c 'kill -SEGV $$'; exit $?"), "exit code 139 (128 + signal 11 (Segmentation fault))");
  ChildProcess missing(std::vector<std::string>{"/no/such/program"}, marked.child());
  EXPECT_EQ(missing.end(), "not started: No such file or directory");
  ChildProcess sleeper("sleep 1000", marked.child());
  EXPECT_FALSE(sleeper.ended(in_ms(50)));
  EXPECT_EQ(sleeper.end(), "ended by the host");
  EXPECT_EQ(sleeper.end(), "ended by the host");
  marked.expect_none();
}

TEST(ChildProcess, ADeadChildIsNoSignalForTheHost) {
  const MarkedProcesses marked;
  ChildProcess child("exec 0<&- 1>&-; echo last words >&2", marked.child());
  ASSERT_TRUE(child.ended(in_ms(5000)));
  const std::string much(1 << 21, 'x');
  const std::vector<std::span<const std::byte>> parts{std::as_bytes(std::span(much))};
  CountedBytes reply(1);
  EXPECT_EQ(child.exchange(parts, &reply, in_ms(1000)), ChildProcess::Exchange::closed);
  child.end();
  EXPECT_EQ(child.error_tail(), "last words\n");
  marked.expect_none();
}

TEST(ChildProcess, KeepsTheTailOfStderr) {
  const MarkedProcesses marked;
  ChildProcess child("i=0; while [ $i -lt 20000 ]; do echo line $i >&2; i=$((i+1)); done; echo x; sleep 1000",
                     marked.child());
  CountedBytes reply(1);
  EXPECT_EQ(child.exchange({}, &reply, in_ms(20'000)), ChildProcess::Exchange::done);
  child.end();
  EXPECT_EQ(child.error_tail().size(), 4096u);
  EXPECT_TRUE(child.error_tail().ends_with("line 19999\n"));
}

TEST(ChildProcess, LimitsAreSetAndNoDescriptorIsInherited) {
  const MarkedProcesses marked;
  ChildOptions options = marked.child();
  options.most_memory = std::uint64_t{3} << 30;
  const ChildProcess other("sleep 1000", marked.child());
  ChildProcess child("ulimit -v; ulimit -c; echo $(ls /proc/self/fd); echo $DRAFTPROOF_TEST_MARK; echo end; sleep 9",
                     options);
  const std::string wanted = "3145728\n0\n0 1 2 3\n" + options.environment[0].second + "\nend\n";
  CountedBytes reply(wanted.size());  // 3 is the folder that ls reads
  child.exchange({}, &reply, in_ms(5000));
  EXPECT_EQ(reply.text(), wanted);
}

TEST(ChildProcess, OutlivesTheThreadThatStartedItButNotTheHost) {
  const MarkedProcesses marked;
  std::unique_ptr<ChildProcess> child;
  std::thread([&] { child = std::make_unique<ChildProcess>("cat", marked.child()); }).join();
  CountedBytes reply(2);
  const std::vector<std::span<const std::byte>> parts{std::as_bytes(std::span("ab", 2))};
  EXPECT_EQ(child->exchange(parts, &reply, in_ms(5000)), ChildProcess::Exchange::done);
  child.reset();
  const pid_t host = fork();
  if (host == 0) {
    new ChildProcess("sleep 1000 & setsid sleep 1000 & sleep 1000", marked.child());
    while (marked.count() < 3) usleep(1000);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(host, &status, 0), host);
  EXPECT_TRUE(WIFSIGNALED(status));
  for (int i = 0; i < 500 && marked.count() > 0; ++i) usleep(10'000);
  marked.expect_none();
}

}  // namespace
}  // namespace draftproof::adapters
