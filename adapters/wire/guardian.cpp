#include <draftproof/adapters/wire/process.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <ctime>

namespace draftproof::adapters {
namespace {

constexpr int control_socket = 3;  // number of the guardian's socket; 0, 1 and 2 are the child's

void report_to_host(int socket, GuardianReport::Kind kind, int value) {
  const GuardianReport report{kind, value};
  [[maybe_unused]] const auto written = write(socket, &report, sizeof report);
}

/// Moves the four descriptors in `orders` to the numbers 0 to 3, and closes all others.
void keep_four(const GuardianOrders& orders) {
  std::array<int, 4> above;
  for (std::size_t i = 0; i < above.size(); ++i) {
    above[i] = fcntl(orders.ends[i], F_DUPFD, control_socket + 1);  // another pipe may have a number 0 to 3
    if (above[i] >= 0) continue;
    report_to_host(orders.ends[control_socket], GuardianReport::Kind::not_started, errno);
    _exit(1);
  }
  for (int i = 0; i <= control_socket; ++i) dup2(above[static_cast<std::size_t>(i)], i);
  fcntl(control_socket, F_SETFD, FD_CLOEXEC);
  constexpr int most = 1 << 16;  // descriptors to close on a kernel without close_range
  if (syscall(SYS_close_range, control_socket + 1, ~0u, 0u) != 0)
    for (int fd = control_socket + 1; fd < most; ++fd) close(fd);
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
  sigset_t none;
  sigemptyset(&none);
  for (int signal = 1; signal < NSIG; ++signal) std::signal(signal, SIG_DFL);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execvpe(orders.arguments[0], orders.arguments, orders.environment);
  report_to_host(control_socket, GuardianReport::Kind::not_started, errno);
  _exit(127);
}

/// Returns the number at the beginning of `text`.
pid_t number_at(const char* text) {
  pid_t number = 0;
  for (; *text >= '0' && *text <= '9'; ++text) number = number * 10 + (*text - '0');
  return number;
}

/// Returns the parent of process `name`, or 0.
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
  // The line is "PID (COMMAND) STATE PARENT ..", and the command may contain parentheses, so the last ')' is its
  // end.
  const char* end = std::strrchr(text, ')');
  return !end || end[1] == '\0' || end[2] == '\0' || end[3] != ' ' ? 0 : number_at(end + 4);
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
      if (*name >= '1' && *name <= '9' && parent_of(name) == self) kill(number_at(name), SIGKILL);
    }
  }
  close(folder);
}

struct Child {
  pid_t pid;
  bool ended = false;
  int status = 0;

  /// Waits for processes that have ended (waitpid). Returns false if no process is left.
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
  void end_all() {
    constexpr int most_passes = 5000;  // about 5 s; a process blocked in the kernel may never die
    constexpr timespec pause{0, 1'000'000};
    for (int pass = 0; pass < most_passes; ++pass) {
      kill(-pid, SIGKILL);
      kill_children();
      if (!reap()) return;
      nanosleep(&pause, nullptr);
    }
  }
};

}  // namespace

void guard_child(const GuardianOrders& orders) {
  const pid_t self = getpid();
  setsid();  // A new session gets no SIGINT from the terminal, so the guardian outlives the host.
  for (int signal = 1; signal < NSIG; ++signal) std::signal(signal, signal == SIGCHLD ? SIG_DFL : SIG_IGN);
  sigset_t ended;
  sigemptyset(&ended);
  sigaddset(&ended, SIGCHLD);
  sigprocmask(SIG_SETMASK, &ended, nullptr);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  keep_four(orders);
  const int signals = signalfd(-1, &ended, SFD_CLOEXEC | SFD_NONBLOCK);

  Child child{.pid = fork()};
  if (child.pid == 0) become_child(orders, self);
  if (child.pid < 0) {
    report_to_host(control_socket, GuardianReport::Kind::not_started, errno);
    _exit(1);
  }
  setpgid(child.pid, child.pid);
  for (int fd = 0; fd < control_socket; ++fd) close(fd);

  bool ordered = false;
  int patience = -1;
  while (!child.ended) {
    pollfd events[2] = {{signals, POLLIN, 0}, {ordered ? -1 : control_socket, POLLIN, 0}};
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
  child.end_all();
  report_to_host(control_socket, ordered ? GuardianReport::Kind::stopped : GuardianReport::Kind::ended, child.status);
  _exit(0);
}

}  // namespace draftproof::adapters
