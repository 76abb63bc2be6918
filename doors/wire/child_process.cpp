#include <draftproof/doors/wire/child_process.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <draftproof/doors/declaration.hpp>
#include <draftproof/doors/wire/guardian.hpp>

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace draftproof::doors {
namespace {

/// Two descriptors that are closed unless they are taken.
struct Ends {
  std::array<int, 2> fd{-1, -1};
  Ends() = default;
  Ends(const Ends&) = delete;
  Ends& operator=(const Ends&) = delete;
  ~Ends() {
    for (const int each : fd)
      if (each >= 0) close(each);
  }
  int take(std::size_t i) { return std::exchange(fd[i], -1); }
};

DoorError no_process(std::string_view what) {
  return DoorError(fmt::format("starting a program: {}: {}", what, std::strerror(errno)));
}

void open_pipe(Ends& ends, std::size_t host_end) {
  if (pipe2(ends.fd.data(), O_CLOEXEC) != 0) throw no_process("a pipe");
  const int host = ends.fd[host_end];
  fcntl(host, F_SETFL, fcntl(host, F_GETFL) | O_NONBLOCK);
  constexpr int wide = 1 << 20;  // a wish: the kernel may keep its 64 KiB
  fcntl(host, F_SETPIPE_SZ, wide);
}

/// Processes and threads of this user.
std::uint64_t running_threads() {
  std::uint64_t count = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator at("/proc", error), end; !error && at != end; at.increment(error)) {
    struct stat status {};
    const std::string name = at->path().filename();
    if (name[0] < '0' || name[0] > '9' || stat((at->path() / "task").c_str(), &status) != 0) continue;
    if (status.st_uid == getuid() && status.st_nlink > 2) count += status.st_nlink - 2;
  }
  return count;
}

std::vector<std::string> environment_of(const ChildOptions& options) {
  std::vector<std::string> result;
  for (char** each = environ; *each; ++each) {
    const std::string_view entry(*each);
    const bool replaced = std::any_of(options.environment.begin(), options.environment.end(), [&](const auto& pair) {
      return entry.substr(0, entry.find('=')) == pair.first;
    });
    if (!replaced) result.emplace_back(entry);
  }
  for (const auto& [name, value] : options.environment) result.push_back(name + "=" + value);
  return result;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

std::string way_of_ending(int status) {
  const auto signal_text = [](int signal) { return fmt::format("signal {} ({})", signal, strsignal(signal)); };
  if (WIFSIGNALED(status)) return signal_text(WTERMSIG(status));
  const int code = WEXITSTATUS(status);
  // A shell ends with 128 + n when its program dies of signal n.
  const bool of_shell = code > 128 && code < 128 + SIGRTMIN;
  return fmt::format("exit code {}", code) + (of_shell ? " (128 + " + signal_text(code - 128) + ")" : "");
}

}  // namespace

ChildProcess::ChildProcess(std::vector<std::string> arguments, const ChildOptions& options) {
  Ends input, output, error, control;
  open_pipe(input, 1);
  open_pipe(output, 0);
  open_pipe(error, 0);
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control.fd.data()) != 0) throw no_process("a socket");
  std::vector<std::string> environment = environment_of(options);
  const std::vector<char*> argument_list = pointers_to(arguments), environment_list = pointers_to(environment);
  GuardianOrders orders{.control = control.fd[1],
                        .input = input.fd[0],
                        .output = output.fd[1],
                        .error = error.fd[1],
                        .arguments = argument_list.data(),
                        .environment = environment_list.data(),
                        .most_memory = options.most_memory,
                        .grace_ms = static_cast<int>(options.grace.count())};
  if (options.more_processes > 0)
    orders.most_processes = running_threads() + static_cast<std::uint64_t>(options.more_processes);
  guardian_ = fork();
  if (guardian_ == 0) guard_child(orders);
  if (guardian_ < 0) throw no_process("fork");
  pipes_.own(input.take(1), output.take(0), error.take(0));
  control_ = control.take(0);
}

ChildProcess::~ChildProcess() { end(); }

bool ChildProcess::ended(Clock::time_point deadline) {
  return control_ < 0 || pipes_.wait_for(control_, POLLIN, deadline);
}

std::string ChildProcess::end() {
  if (control_ < 0) return how_;
  // A child that has just died closes its pipes a moment before the guardian can report it.
  constexpr std::chrono::milliseconds moment{100};
  ended(Clock::now() + moment);
  shutdown(control_, SHUT_WR);
  GuardianReport report{};
  how_ = by_host;
  for (ssize_t size; (size = recv(control_, &report, sizeof report, MSG_WAITALL)) != 0;) {
    if (size < 0 && errno == EINTR) continue;
    if (size != sizeof report) break;
    if (report.kind == GuardianReport::Kind::not_started)
      how_ = std::string("not started: ") + strerror(report.value);
    if (report.kind == GuardianReport::Kind::not_started) break;
    if (report.kind == GuardianReport::Kind::ended) how_ = way_of_ending(report.value);
  }
  pipes_.drain_error();
  pipes_.close_all();
  close(std::exchange(control_, -1));
  while (waitpid(guardian_, nullptr, 0) < 0 && errno == EINTR) {
  }
  return how_;
}

}  // namespace draftproof::doors
