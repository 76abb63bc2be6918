#include <draftproof/adapters/wire/child_process.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <initializer_list>

#include <draftproof/adapters/declaration.hpp>

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace draftproof::adapters {
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

namespace {

void report_to_host(int control, GuardianReport::Kind kind, int value) {
  const GuardianReport report{kind, value};
  [[maybe_unused]] const auto written = write(control, &report, sizeof report);
}

void close_others(const GuardianOrders& orders) {
  const auto kept = [&](int fd) {
    return fd == orders.control || fd == orders.input || fd == orders.output || fd == orders.error;
  };
  // The ranges between the four that stay.
  unsigned first = 0;
  while (true) {
    unsigned next = ~0u;
    for (const int fd : {orders.control, orders.input, orders.output, orders.error})
      if (static_cast<unsigned>(fd) >= first && static_cast<unsigned>(fd) < next) next = static_cast<unsigned>(fd);
    const unsigned last = next == ~0u ? ~0u : next - 1;
    if (next != first && syscall(SYS_close_range, first, last, 0u) != 0) break;
    if (next == ~0u) return;
    first = next + 1;
  }
  constexpr int most = 1 << 16;  // a kernel without close_range
  for (int fd = 0; fd < most; ++fd)
    if (!kept(fd)) close(fd);
}

void set_limit(__rlimit_resource_t resource, std::uint64_t limit) {
  struct rlimit now {};
  if (getrlimit(resource, &now) != 0) return;
  now.rlim_cur = now.rlim_max == RLIM_INFINITY || limit < now.rlim_max ? limit : now.rlim_max;
  now.rlim_max = now.rlim_cur;
  setrlimit(resource, &now);
}

[[noreturn]] void become_child(const GuardianOrders& orders, pid_t guardian) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != guardian) _exit(127);
  set_limit(RLIMIT_CORE, 0);
  if (orders.most_memory > 0) set_limit(RLIMIT_AS, orders.most_memory);
  if (orders.most_processes > 0) set_limit(RLIMIT_NPROC, orders.most_processes);
  // Above 2 first: a pipe of the host may have one of the numbers 0 to 2.
  const int ends[3] = {fcntl(orders.input, F_DUPFD_CLOEXEC, 3), fcntl(orders.output, F_DUPFD_CLOEXEC, 3),
                       fcntl(orders.error, F_DUPFD_CLOEXEC, 3)};
  const int control = fcntl(orders.control, F_DUPFD_CLOEXEC, 3);
  for (int i = 0; i < 3; ++i) dup2(ends[i], i);
  sigset_t none;
  sigemptyset(&none);
  for (int signal = 1; signal < NSIG; ++signal) std::signal(signal, SIG_DFL);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execvpe(orders.arguments[0], orders.arguments, orders.environment);
  report_to_host(control, GuardianReport::Kind::not_started, errno);
  _exit(127);
}

/// The parent of process `name`, or 0.
pid_t parent_of(const char* name) {
  char path[64] = "/proc/";
  std::strncat(path, name, 20);
  std::strcat(path, "/stat");
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[512];
  const auto size = read(file, text, sizeof text - 1);
  close(file);
  if (size <= 0) return 0;
  text[size] = '\0';
  // "PID (COMMAND) STATE PARENT ..": a command may hold parentheses.
  const char* end = std::strrchr(text, ')');
  if (!end || end[1] == '\0' || end[2] == '\0' || end[3] != ' ') return 0;
  pid_t parent = 0;
  for (const char* digit = end + 4; *digit >= '0' && *digit <= '9'; ++digit) parent = parent * 10 + (*digit - '0');
  return parent;
}

void kill_children() {
  struct Entry {  // linux_dirent64
    std::uint64_t inode;
    std::int64_t offset;
    std::uint16_t size;
    std::uint8_t type;
    char name[1];
  };
  const pid_t self = getpid();
  const int folder = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  alignas(8) char buffer[8192];
  for (long size; (size = syscall(SYS_getdents64, folder, buffer, sizeof buffer)) > 0;) {
    for (long at = 0; at < size;) {
      std::uint16_t length = 0;
      std::memcpy(&length, buffer + at + offsetof(Entry, size), sizeof length);
      const char* name = buffer + at + offsetof(Entry, name);
      at += length;
      if (*name < '1' || *name > '9' || parent_of(name) != self) continue;
      pid_t pid = 0;
      for (const char* digit = name; *digit != '\0'; ++digit) pid = pid * 10 + (*digit - '0');
      kill(pid, SIGKILL);
    }
  }
  close(folder);
}

struct Child {
  pid_t pid;
  bool ended = false;
  int status = 0;

  /// Collects ended processes. False when no process is left.
  bool reap() {
    while (true) {
      int now = 0;
      const pid_t collected = waitpid(-1, &now, WNOHANG);
      if (collected <= 0) return collected == 0 || errno == EINTR;
      if (collected != pid) continue;
      ended = true;
      status = now;
    }
  }
};

void sleep_ms(long ms) {
  const timespec time{ms / 1000, ms % 1000 * 1'000'000};
  nanosleep(&time, nullptr);
}

void end_all(Child& child) {
  constexpr int most_passes = 5000;  // of a millisecond: a process in the kernel's hands may not die at all
  for (int pass = 0; pass < most_passes; ++pass) {
    kill(-child.pid, SIGKILL);
    kill_children();
    if (!child.reap()) return;
    sleep_ms(1);
  }
}

}  // namespace

void guard_child(const GuardianOrders& orders) {
  const pid_t self = getpid();
  setsid();  // a terminal's interrupt is not for the guardian: it outlives the host and clears up
  for (int signal = 1; signal < NSIG; ++signal) std::signal(signal, signal == SIGCHLD ? SIG_DFL : SIG_IGN);
  sigset_t ended;
  sigemptyset(&ended);
  sigaddset(&ended, SIGCHLD);
  sigprocmask(SIG_SETMASK, &ended, nullptr);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  close_others(orders);
  const int signals = signalfd(-1, &ended, SFD_CLOEXEC | SFD_NONBLOCK);

  Child child{.pid = fork()};
  if (child.pid == 0) become_child(orders, self);
  if (child.pid < 0) {
    report_to_host(orders.control, GuardianReport::Kind::not_started, errno);
    _exit(1);
  }
  setpgid(child.pid, child.pid);
  close(orders.input);
  close(orders.output);
  close(orders.error);

  bool ordered = false;
  int patience = -1;
  while (!child.ended) {
    pollfd events[2] = {{signals, POLLIN, 0}, {ordered ? -1 : orders.control, POLLIN, 0}};
    const int ready = poll(events, 2, patience);
    char drained[sizeof(signalfd_siginfo)];
    while (read(signals, drained, sizeof drained) > 0) {
    }
    child.reap();
    if (child.ended || (ordered && ready == 0)) break;
    if (!ordered && events[1].revents != 0) {
      ordered = true;
      patience = orders.grace_ms;
      kill(-child.pid, SIGTERM);
    }
  }
  end_all(child);
  report_to_host(orders.control, ordered ? GuardianReport::Kind::stopped : GuardianReport::Kind::ended, child.status);
  _exit(0);
}

}  // namespace draftproof::adapters
