#include <draftproof/doors/wire/guardian.hpp>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <initializer_list>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace draftproof::doors {
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

}  // namespace draftproof::doors
