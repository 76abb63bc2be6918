#include <draftproof/adapters/wire/process.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>

#include <draftproof/adapters/declaration.hpp>

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace draftproof::adapters {
namespace {

/// Two descriptors; the destructor closes each that take() has not handed out.
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

AdapterError no_process(std::string_view what) {
  return AdapterError(fmt::format("starting a program: {}: {}", what, std::strerror(errno)));
}

void open_pipe(Ends& ends, std::size_t host_end) {
  if (pipe2(ends.fd.data(), O_CLOEXEC) != 0) throw no_process("a pipe");
  const int host = ends.fd[host_end];
  fcntl(host, F_SETFL, fcntl(host, F_GETFL) | O_NONBLOCK);
  constexpr int wide = 1 << 20;  // An error is ignored: the kernel may refuse a pipe above 64 KiB.
  fcntl(host, F_SETPIPE_SZ, wide);
}

/// Returns the number of processes and threads of this user.
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
  // A shell exits with 128 + n if the program that it ran was killed by signal n.
  const bool of_shell = code > 128 && code < 128 + SIGRTMIN;
  return fmt::format("exit code {}", code) + (of_shell ? " (128 + " + signal_text(code - 128) + ")" : "");
}

/// Blocks SIGPIPE in this thread, and discards a SIGPIPE that a write raised.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~WithoutSigpipe() {
    const timespec now{};
    if (!pending_)
      while (sigtimedwait(&pipe_, nullptr, &now) < 0 && errno == EINTR) {
      }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;

 private:
  sigset_t pipe_, before_;
  bool pending_;
};

/// Returns the time left in whole milliseconds, as poll() takes it.
int milliseconds_to(Process::Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Process::Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000'000));
}

void close_one(int& descriptor) {
  if (descriptor >= 0) close(std::exchange(descriptor, -1));
}

}  // namespace

Process::Process(const Address& address, const ChildOptions& options, Clock::time_point deadline) {
  if (address.listens())
    connect_to(address.text, deadline);
  else
    start({"/bin/sh", "-c", address.text}, options);
}

void Process::start(std::vector<std::string> arguments, const ChildOptions& options) {
  Ends input, output, error, control;
  open_pipe(input, 1);
  open_pipe(output, 0);
  open_pipe(error, 0);
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control.fd.data()) != 0) throw no_process("a socket");
  std::vector<std::string> environment = environment_of(options);
  const std::vector<char*> argument_list = pointers_to(arguments), environment_list = pointers_to(environment);
  GuardianOrders orders{.ends = {input.fd[0], output.fd[1], error.fd[1], control.fd[1]},
                        .arguments = argument_list.data(),
                        .environment = environment_list.data(),
                        .most_memory = options.most_memory,
                        .grace_ms = static_cast<int>(options.grace.count())};
  if (options.more_processes > 0)
    orders.most_processes = running_threads() + static_cast<std::uint64_t>(options.more_processes);
  guardian_ = fork();
  if (guardian_ == 0) guard_child(orders);
  if (guardian_ < 0) throw no_process("fork");
  input_ = input.take(1);
  output_ = output.take(0);
  error_ = error.take(0);
  control_ = control.take(0);
  lends_pages_ = true;
}

void Process::connect_to(const std::string& path, Clock::time_point deadline) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    throw AdapterError(fmt::format("socket:{}: path: got {} bytes, expected at most {}", path, path.size(),
                                   sizeof address.sun_path - 1));
  std::memcpy(address.sun_path, path.data(), path.size());
  Ends connection;
  const auto failed = [&path](std::string_view call) {
    return AdapterError(fmt::format("socket:{}: {}: got {}, expected a program that listens there", path, call,
                                    std::strerror(errno)));
  };
  connection.fd[0] = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (connection.fd[0] < 0) throw failed("socket");
  // A full queue of connections is not an error: the program is busy.
  constexpr std::chrono::milliseconds pause{10};
  while (::connect(connection.fd[0], reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if ((errno != EAGAIN && errno != EINTR) || Clock::now() >= deadline) throw failed("connect");
    std::this_thread::sleep_for(pause);
  }
  input_ = output_ = connection.take(0);
}

bool Process::write_some(Parts& parts, std::size_t& written) {
  constexpr std::size_t large = std::size_t{1} << 17;
  std::array<iovec, 16> vectors;
  std::size_t count = 0;
  // Small parts are copied into the pipe together. The pages of a large part are lent to the pipe (vmsplice), which
  // saves a copy.
  const bool lends = lends_pages_ && parts[0].size() - written >= large;
  for (; count < std::min(parts.size(), lends ? 1 : vectors.size()); ++count) {
    const auto part = count == 0 ? parts[0].subspan(written) : parts[count];
    if (count > 0 && lends_pages_ && part.size() >= large) break;
    vectors[count] = {const_cast<std::byte*>(part.data()), part.size()};
  }
  const auto sent = lends ? vmsplice(input_, vectors.data(), 1, SPLICE_F_NONBLOCK)
                          : writev(input_, vectors.data(), static_cast<int>(count));
  if (sent < 0) {
    const bool retries = errno == EAGAIN || errno == EINTR;
    const bool unable = lends && !retries && errno != EPIPE;
    if (unable) lends_pages_ = false;
    return retries || unable;
  }
  written += static_cast<std::size_t>(sent);
  while (!parts.empty() && written >= parts[0].size()) {
    written -= parts[0].size();
    parts = parts.subspan(1);
  }
  return true;
}

void Process::drain_error() {
  constexpr std::size_t kept = 4096, most_at_once = std::size_t{1} << 20;
  char text[4096];
  for (std::size_t drained = 0; error_ >= 0 && drained < most_at_once;) {
    const auto size = read(error_, text, sizeof text);
    if (size < 0 && errno == EINTR) continue;
    if (size == 0) close_one(error_);
    if (size <= 0) return;
    drained += static_cast<std::size_t>(size);
    tail_.append(text, static_cast<std::size_t>(size));
    if (tail_.size() > kept) tail_.erase(0, tail_.size() - kept);
  }
}

Process::Exchange Process::exchange(Parts parts, ByteSink* sink, Clock::time_point deadline,
                                    const std::atomic<bool>* stop) {
  constexpr std::chrono::milliseconds between_looks{200}, after_stop{2000};
  bool stopped = false;
  const WithoutSigpipe guard;
  std::size_t written = 0;
  while (!parts.empty() && parts[0].empty()) parts = parts.subspan(1);
  while (!parts.empty() || (sink && !sink->complete())) {
    const bool reads = sink && !sink->complete();
    if ((!parts.empty() && input_ < 0) || (reads && output_ < 0)) return Exchange::closed;
    pollfd events[3] = {
        {parts.empty() ? -1 : input_, POLLOUT, 0}, {reads ? output_ : -1, POLLIN, 0}, {error_, POLLIN, 0}};
    if (stop && !stopped && stop->load(std::memory_order_relaxed)) {
      stopped = true;
      deadline = std::min(deadline, Clock::now() + after_stop);
    }
    const int left = milliseconds_to(deadline);
    // A signal does not interrupt poll() if it was delivered to another thread.
    const int ready = poll(events, 3, stop ? std::min(left, static_cast<int>(between_looks.count())) : left);
    if (events[2].revents != 0) drain_error();
    if (left == 0) return Exchange::late;  // At the deadline the exchange ends even if bytes still arrive.
    if (ready <= 0) continue;
    if (events[0].revents != 0 && !write_some(parts, written)) return Exchange::closed;
    if (events[1].revents == 0) continue;
    const auto room = sink->room();
    const auto size = read(output_, room.data(), room.size());
    if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) return Exchange::closed;
    if (size > 0) sink->filled(static_cast<std::size_t>(size));
  }
  return Exchange::done;
}

void Process::close_input() {
  if (input_ < 0) return;
  if (input_ != output_) return close_one(input_);
  shutdown(input_, SHUT_WR);
  input_ = -1;
}

bool Process::ended(Clock::time_point deadline) {
  const bool child = guardian_ >= 0;
  const int watched = child ? control_ : output_;
  while (watched >= 0) {
    pollfd polled[2] = {{watched, static_cast<short>(child ? POLLIN : POLLRDHUP), 0}, {error_, POLLIN, 0}};
    const int left = milliseconds_to(deadline);
    poll(polled, 2, left);
    if (polled[1].revents != 0) drain_error();
    if (polled[0].revents != 0) return true;
    if (left == 0) return false;
  }
  return true;
}

std::string Process::guardians_report() {
  // A child that has just died closes its pipes shortly before the guardian can report it.
  constexpr std::chrono::milliseconds moment{100};
  ended(Clock::now() + moment);
  shutdown(control_, SHUT_WR);
  GuardianReport report{};
  std::string how(by_host);
  for (ssize_t size; (size = recv(control_, &report, sizeof report, MSG_WAITALL)) != 0;) {
    if (size < 0 && errno == EINTR) continue;
    if (size != sizeof report) break;
    if (report.kind == GuardianReport::Kind::not_started)
      return std::string("not started: ") + strerror(report.value);
    if (report.kind == GuardianReport::Kind::ended) how = way_of_ending(report.value);
  }
  return how;
}

std::string Process::end() {
  if (output_ < 0) return how_;
  if (guardian_ >= 0) {
    how_ = guardians_report();
    drain_error();
  } else {
    how_ = ended(Clock::now()) ? "the program closed the connection" : std::string(by_host);
  }
  if (input_ == output_) input_ = -1;
  for (int* const descriptor : {&input_, &output_, &error_, &control_}) close_one(*descriptor);
  while (guardian_ >= 0 && waitpid(guardian_, nullptr, 0) < 0 && errno == EINTR) {
  }
  return how_;
}

}  // namespace draftproof::adapters
