// The process between a host and a child program. It starts the child, is the parent of every process that the child
// leaves behind, and ends them all when the child ends, when the host orders it, or when the host is gone.
//
//   host  --control-->  guardian  -->  child  -->  its processes, in groups and sessions of their own or not
//
// Correctness: the guardian is a subreaper, so a process whose parent died becomes its child. It kills its children
// until the kernel says that there are none, so none is left, whatever group, session or environment it has.
// A program that kills its guardian on purpose escapes, except for the child itself, which then dies by its parent's
// death signal.
#pragma once

#include <cstdint>

namespace draftproof::doors {

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

}  // namespace draftproof::doors
