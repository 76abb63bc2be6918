// A program in a process of its own, on pipes, that cannot stop its host: reads and writes have a deadline, what it
// writes to stderr is kept to a tail, and no process of it is left when it ends (guard_child).
#pragma once

#include <sys/types.h>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <draftproof/adapters/wire/byte_exchange.hpp>
#include <draftproof/adapters/wire/peer.hpp>

namespace draftproof::adapters {

class ChildProcess final : public Peer {
 public:
  /// Starts `arguments`, the first of which is looked up in PATH. Throws: DoorError if there is no process to be had.
  explicit ChildProcess(std::vector<std::string> arguments, const ChildOptions& options = {});
  /// Starts `sh -c command`.
  explicit ChildProcess(const std::string& command, const ChildOptions& options = {})
      : ChildProcess(std::vector<std::string>{"/bin/sh", "-c", command}, options) {}
  ~ChildProcess() override;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  Exchange exchange(Parts parts, ReplySink* reply, Clock::time_point deadline) override {
    return pipes_.exchange(parts, reply, deadline);
  }
  /// Closes the child's standard input.
  void close_input() override { pipes_.close_input(); }
  bool ended(Clock::time_point deadline) override;
  /// Ends the child and all its processes. Returns how it ended: `exit code 3`, `signal 11 (Segmentation fault)`,
  /// or by_host.
  std::string end() override;
  std::string_view error_tail() const override { return pipes_.error_tail(); }

 private:
  ByteExchange pipes_;
  int control_ = -1;
  pid_t guardian_ = -1;
  std::string how_;
};

// The process between a host and a child program. It starts the child, is the parent of every process that the child
// leaves behind, and ends them all when the child ends, when the host orders it, or when the host is gone.
//
//   host  --control-->  guardian  -->  child  -->  its processes, in groups and sessions of their own or not
//
// Correctness: the guardian is a subreaper, so a process whose parent died becomes its child. It kills its children
// until the kernel says that there are none, so none is left, whatever group, session or environment it has.
// A program that kills its guardian on purpose escapes, except for the child itself, which then dies by its parent's
// death signal.

/// A record that the guardian writes on the control socket.
struct GuardianReport {
  enum class Kind : std::int32_t {
    not_started = 1,  ///< value: errno
    ended = 2,        ///< the child ended of itself; value: its wait status
    stopped = 3,      ///< the child was ended on order; value: its wait status
  };
  Kind kind;
  std::int32_t value;
};

/// Descriptors and strings of the host. They are read after fork, before anything else can change them.
struct GuardianOrders {
  int control = -1;                         ///< socket: reports go out, end of file is the order to stop
  int input = -1, output = -1, error = -1;  ///< ends of the pipes that become the child's 0, 1 and 2
  char* const* arguments = nullptr;         ///< ends with null
  char* const* environment = nullptr;       ///< ends with null
  std::uint64_t most_memory = 0;            ///< address space of each process in bytes; 0: no limit
  std::uint64_t most_processes = 0;         ///< of this user, with threads; 0: no limit
  int grace_ms = 0;                         ///< between SIGTERM and SIGKILL
};

/// The guardian's life, in a process that fork() has just made. Calls async-signal-safe functions only.
[[noreturn]] void guard_child(const GuardianOrders& orders);

}  // namespace draftproof::adapters
