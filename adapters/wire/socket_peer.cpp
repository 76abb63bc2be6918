#include <draftproof/adapters/wire/socket_peer.hpp>

#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <draftproof/adapters/declaration.hpp>

namespace draftproof::adapters {

SocketPeer::SocketPeer(const std::string& path, Clock::time_point deadline) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    throw DoorError(fmt::format("socket:{}: path: found {} bytes, wanted at most {}", path, path.size(),
                                sizeof address.sun_path - 1));
  std::memcpy(address.sun_path, path.data(), path.size());
  const auto failed = [&path](std::string_view call) {
    return DoorError(fmt::format("socket:{}: {}: found {}, wanted a program that listens there", path, call,
                                 std::strerror(errno)));
  };
  const int read = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (read < 0) throw failed("socket");
  const int write = fcntl(read, F_DUPFD_CLOEXEC, 0);  // closed before the reading end
  bytes_.own(write, read, -1);
  if (write < 0) throw failed("socket");
  // A full queue is no error: the program is busy.
  constexpr std::chrono::milliseconds pause{10};
  while (::connect(read, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (errno != EAGAIN && errno != EINTR) throw failed("connect");
    if (Clock::now() >= deadline) throw failed("connect");
    std::this_thread::sleep_for(pause);
  }
  socket_ = read;
}

void SocketPeer::close_input() {
  if (socket_ >= 0) shutdown(socket_, SHUT_WR);
  bytes_.close_input();
}

bool SocketPeer::ended(Clock::time_point deadline) {
  return socket_ < 0 || bytes_.wait_for(socket_, POLLRDHUP, deadline);
}

std::string SocketPeer::end() {
  if (socket_ < 0) return how_;
  how_ = ended(Clock::now()) ? "the program closed the connection" : std::string(by_host);
  socket_ = -1;
  bytes_.close_all();
  return how_;
}

}  // namespace draftproof::adapters
