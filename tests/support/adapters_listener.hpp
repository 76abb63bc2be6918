// A process that listens on a Unix socket, for tests of the wire protocol.
#pragma once

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <draftproof/adapters/wire/process.hpp>

namespace draftproof::adapters::wired {

/// A listening process. The socket accepts connections as soon as the constructor has returned. Each connection is
/// served by a separate process.
class Listener {
 public:
  /// Serves a connection; the arguments are its descriptor, the number of earlier connections, and the id of the
  /// listening process.
  using Serve = std::function<void(int connection, int before, pid_t listener)>;

  explicit Listener(const Serve& each) {
    static int made = 0;
    path_ = std::filesystem::temp_directory_path() / fmt::format("dp{}.{}", ::getpid(), made++);
    ::unlink(path_.c_str());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof address.sun_path - 1);
    const int listening = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (::bind(listening, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(listening, 4) != 0)
      ADD_FAILURE() << path_ << ": " << std::strerror(errno);
    process_ = ::fork();
    if (process_ == 0) {
      std::signal(SIGCHLD, SIG_IGN);
      prctl(PR_SET_PDEATHSIG, SIGKILL);  // ends this process if the test is killed
      setpgid(0, 0);
      for (int before = 0;; ++before) {
        const int connection = ::accept(listening, nullptr, nullptr);
        if (connection < 0) std::_Exit(1);
        if (::fork() == 0) {
          prctl(PR_SET_PDEATHSIG, SIGKILL);
          ::close(listening);
          each(connection, before, getppid());
          std::_Exit(0);
        }
        ::close(connection);
      }
    }
    setpgid(process_, process_);
    ::close(listening);
  }
  ~Listener() {
    stop();
    ::unlink(path_.c_str());
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  /// Kills the listener and the processes that serve its connections.
  void stop() {
    if (process_ < 0) return;
    ::kill(-process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = -1;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  pid_t process_ = -1;
};

inline Address address_of(const Listener& listener) { return {Address::Kind::socket, listener.path()}; }

}  // namespace draftproof::adapters::wired
