#include <draftproof/adapters/wire/byte_exchange.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/uio.h>
#include <unistd.h>

namespace draftproof::adapters {
namespace {

/// Holds SIGPIPE back from this thread, and takes the one that a write may have raised.
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

}  // namespace

int milliseconds_to(Peer::Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Peer::Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000'000));
}

bool ByteExchange::write_some(Peer::Parts& parts, std::size_t& written) {
  constexpr std::size_t large = std::size_t{1} << 17;
  std::array<iovec, 16> vectors;
  std::size_t count = 0;
  // Small parts are copied into the pipe together; the pages of a large part are lent to it, one copy less.
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

void ByteExchange::drain_error() {
  constexpr std::size_t kept = 4096, most_at_once = std::size_t{1} << 20;
  char text[4096];
  for (std::size_t drained = 0; error_ >= 0 && drained < most_at_once;) {
    const auto size = read(error_, text, sizeof text);
    if (size < 0 && errno == EINTR) continue;
    if (size == 0) close(std::exchange(error_, -1));
    if (size <= 0) return;
    drained += static_cast<std::size_t>(size);
    tail_.append(text, static_cast<std::size_t>(size));
    if (tail_.size() > kept) tail_.erase(0, tail_.size() - kept);
  }
}

Peer::Exchange ByteExchange::exchange(Peer::Parts parts, ReplySink* reply, Peer::Clock::time_point deadline) {
  const WithoutSigpipe guard;
  std::size_t written = 0;
  while (!parts.empty() && parts[0].empty()) parts = parts.subspan(1);
  while (!parts.empty() || (reply && !reply->complete())) {
    const bool reads = reply && !reply->complete();
    if ((!parts.empty() && input_ < 0) || (reads && output_ < 0)) return Peer::Exchange::closed;
    pollfd events[3] = {
        {parts.empty() ? -1 : input_, POLLOUT, 0}, {reads ? output_ : -1, POLLIN, 0}, {error_, POLLIN, 0}};
    const int left = milliseconds_to(deadline);
    const int ready = poll(events, 3, left);
    if (events[2].revents != 0) drain_error();
    if (left == 0) return Peer::Exchange::late;  // also where bytes flow without an end
    if (ready <= 0) continue;
    if (events[0].revents != 0 && !write_some(parts, written)) return Peer::Exchange::closed;
    if (events[1].revents == 0) continue;
    const auto room = reply->room();
    const auto size = read(output_, room.data(), room.size());
    if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) return Peer::Exchange::closed;
    if (size > 0) reply->filled(static_cast<std::size_t>(size));
  }
  return Peer::Exchange::done;
}

bool ByteExchange::wait_for(int descriptor, short events, Peer::Clock::time_point deadline) {
  while (true) {
    pollfd polled[2] = {{descriptor, events, 0}, {error_, POLLIN, 0}};
    const int left = milliseconds_to(deadline);
    poll(polled, 2, left);
    if (polled[1].revents != 0) drain_error();
    if (polled[0].revents != 0) return true;
    if (left == 0) return false;
  }
}

void ByteExchange::close_input() {
  if (input_ >= 0) close(std::exchange(input_, -1));
}

void ByteExchange::close_all() {
  for (int* fd : {&input_, &output_, &error_})
    if (*fd >= 0) close(std::exchange(*fd, -1));
}

}  // namespace draftproof::adapters
