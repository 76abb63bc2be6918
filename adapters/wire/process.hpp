// The byte connection to the program: a child process on pipes, or a program that listens on a Unix socket and was
// started by the caller. Reads and writes have a deadline, so the program cannot block its host. The last bytes of a
// child's stderr are kept, and all processes of the child end with it (guard_child).
#pragma once

#include <sys/types.h>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace draftproof::adapters {

struct ChildOptions {
  std::uint64_t most_memory = 0;  ///< address space of each process in bytes; 0: no limit
  int more_processes = 512;       ///< most new processes and threads of this user; 0: no limit; no effect for root
  std::chrono::milliseconds grace{200};                            ///< time between SIGTERM and SIGKILL
  std::vector<std::pair<std::string, std::string>> environment{};  ///< variables that are set in the child
};

/// The address of a program.
struct Address {
  enum class Kind {
    command,  ///< `sh -c text`, started for this connection
    socket,   ///< a Unix stream socket with the path `text`, where a program listens
  };

  Address(std::string command) : text(std::move(command)) {}  // NOLINT(google-explicit-constructor)
  Address(const char* command) : text(command) {}             // NOLINT(google-explicit-constructor)
  Address(Kind of, std::string where) : kind(of), text(std::move(where)) {}

  bool listens() const { return kind == Kind::socket; }
  /// Returns the name that messages show.
  std::string name() const { return (listens() ? "socket:" : "") + text; }

  Kind kind = Kind::command;
  std::string text;
};

/// Receives the bytes of a message.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  /// Returns memory for the next bytes; not empty while the message is incomplete.
  virtual std::span<std::byte> room() = 0;
  /// Must be called after `count` bytes were written to the beginning of room(). Throws: AdapterError if they cannot be
  /// a message.
  virtual void filled(std::size_t count) = 0;
  virtual bool complete() const = 0;
};

class Process {
 public:
  using Clock = std::chrono::steady_clock;
  using Parts = std::span<const std::span<const std::byte>>;
  enum class Exchange {
    done,
    closed,  ///< the other side closed the connection before the exchange was complete
    late,    ///< the deadline passed
  };

  /// Starts the program, or connects to it and waits until `deadline` while the listener's queue is full.
  /// Throws: AdapterError if no process can be started, if the path of the socket is too long, or if nothing listens
  /// there; the error's message has the path.
  Process(const Address& address, const ChildOptions& options, Clock::time_point deadline);
  /// Starts `arguments`, the first of which is looked up in PATH. Throws: AdapterError if no process can be started.
  Process(const std::vector<std::string>& arguments, const ChildOptions& options) { start(arguments, options); }
  /// Connects to the process that started this one, by two open descriptors: reads from `from`, writes to `to`.
  Process(int from, int to) : input_(to), output_(from) {}
  ~Process() { end(); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Writes all `parts` and reads until `sink` is complete, each as far as the other side allows. Without `sink` it
  /// only writes. Once `stop` is true, the deadline is at most two seconds away. Throws: the exceptions of `sink`.
  /// Cost: large parts are copied once, by the child that reads them. A child that replies before it has read all of
  /// `parts` may read what the caller has since written to their memory.
  Exchange exchange(Parts parts, ByteSink* sink, Clock::time_point deadline, const std::atomic<bool>* stop = nullptr);
  /// Closes the connection to the program, which then reads an end of file and can still write.
  void close_input();
  /// Whether the child ended by itself, or the program closed the connection, before `deadline`.
  bool ended(Clock::time_point deadline);
  /// Ends the child and all its processes, or the connection. Returns how it ended: `exit code 3`, `signal 11
  /// (Segmentation fault)`, `the program closed the connection`, or by_host. A second call returns the same text.
  std::string end();
  /// Returns the last 4 KiB of a child's stderr.
  std::string_view error_tail() const { return tail_; }

  static constexpr std::string_view by_host = "ended by the host";

 private:
  void start(std::vector<std::string> arguments, const ChildOptions& options);
  void connect_to(const std::string& path, Clock::time_point deadline);
  bool write_some(Parts& parts, std::size_t& written);
  void drain_error();
  std::string guardians_report();

  int input_ = -1, output_ = -1, error_ = -1;  // the program's stdin, stdout and stderr; equal for a socket
  int control_ = -1;                           // socket to the guardian of a child
  pid_t guardian_ = -1;
  bool lends_pages_ = false;
  std::string tail_, how_;
};

// The process between a host and a child program. It starts the child, is the parent of every process that the child
// leaves behind, and ends them all when the child ends, when the host orders it, or when the host is gone.
//
//   host  --control-->  guardian  -->  child  -->  its processes, in any group or session
//
// Correctness: the guardian is a subreaper, so a process whose parent died becomes its child. It kills its children
// until waitpid returns ECHILD, so no process is left, whatever its group, session or environment.
// A program that kills its guardian on purpose can leave processes behind, but the child itself dies then by its
// parent-death signal (PR_SET_PDEATHSIG).

/// A record that the guardian writes on the control socket.
struct GuardianReport {
  enum class Kind : std::int32_t {
    not_started = 1,  ///< value: errno
    ended = 2,        ///< the child ended without an order; value: its wait status
    stopped = 3,      ///< the child was ended by an order of the host; value: its wait status
  };
  Kind kind;
  std::int32_t value;
};

/// Descriptors and strings of the host. The guardian reads them after fork, before anything else can change them.
struct GuardianOrders {
  /// The descriptors that become 0, 1 and 2 of the child, and the control socket: the guardian writes reports to it
  /// and stops the child at end of file.
  std::array<int, 4> ends{-1, -1, -1, -1};
  char* const* arguments = nullptr;    ///< ends with null
  char* const* environment = nullptr;  ///< ends with null
  std::uint64_t most_memory = 0;       ///< address space of each process in bytes; 0: no limit
  std::uint64_t most_processes = 0;    ///< most processes and threads of this user; 0: no limit
  int grace_ms = 0;                    ///< time between SIGTERM and SIGKILL
};

/// Runs the guardian, in a new process of fork(). Calls async-signal-safe functions only.
[[noreturn]] void guard_child(const GuardianOrders& orders);

}  // namespace draftproof::adapters
