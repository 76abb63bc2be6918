// The other end of the wire, as a connection uses it: a child process on pipes, or a program that listens on a socket.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace draftproof::adapters {

struct ChildOptions {
  std::uint64_t most_memory = 0;  ///< address space of each process in bytes; 0: no limit
  int more_processes = 512;  ///< processes and threads beyond those that this user has; 0: no limit. Not for root
  std::chrono::milliseconds grace{200};                            ///< between SIGTERM and SIGKILL
  std::vector<std::pair<std::string, std::string>> environment{};  ///< set in the child
};

/// Takes the bytes of a reply as they come.
class ReplySink {
 public:
  virtual ~ReplySink() = default;
  /// Where the next bytes are to go: not empty while the reply is not complete.
  virtual std::span<std::byte> room() = 0;
  /// `count` bytes were put at the beginning of room(). Throws: DoorError if they cannot be a reply.
  virtual void filled(std::size_t count) = 0;
  virtual bool complete() const = 0;
};

class Peer {
 public:
  using Clock = std::chrono::steady_clock;
  using Parts = std::span<const std::span<const std::byte>>;
  enum class Exchange {
    done,
    closed,  ///< the peer closed its side before the end
    late,    ///< the deadline passed
  };

  virtual ~Peer() = default;

  /// Writes all `parts` and reads until `reply` is complete, each as far as the other side allows. Without `reply` it
  /// only writes. Throws: what `reply` throws.
  virtual Exchange exchange(Parts parts, ReplySink* reply, Clock::time_point deadline) = 0;
  /// Says that no request follows.
  virtual void close_input() = 0;
  /// Whether the peer has ended of itself before `deadline`.
  virtual bool ended(Clock::time_point deadline) = 0;
  /// Ends the peer. Returns how it ended, `by_host` if not of itself. The second call returns the same.
  virtual std::string end() = 0;
  /// The last 4 KiB of what the peer wrote to stderr, where it has one.
  virtual std::string_view error_tail() const { return {}; }

  static constexpr std::string_view by_host = "ended by the host";
};

/// Where a program is found.
struct Address {
  enum class Kind {
    command,  ///< `sh -c text`, started for this connection
    socket,   ///< a Unix stream socket with the path `text`, where a program listens
  };

  Address(std::string command) : text(std::move(command)) {}  // NOLINT(google-explicit-constructor)
  Address(const char* command) : text(command) {}             // NOLINT(google-explicit-constructor)
  Address(Kind of, std::string where) : kind(of), text(std::move(where)) {}

  bool listens() const { return kind == Kind::socket; }
  /// The name in reports.
  std::string name() const { return (listens() ? "socket:" : "") + text; }

  Kind kind = Kind::command;
  std::string text;
};

/// Starts the program, or connects to it until `deadline`. Throws: DoorError.
std::unique_ptr<Peer> open_peer(const Address& address, const ChildOptions& options,
                                Peer::Clock::time_point deadline);

}  // namespace draftproof::adapters
