// A program in a process of its own, on pipes, that cannot stop its host: reads and writes have a deadline, what it
// writes to stderr is kept to a tail, and no process of it is left when it ends (guardian.hpp).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace draftproof::doors {

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

class ChildProcess {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Exchange {
    done,
    closed,  ///< the child closed a pipe before the end
    late,    ///< the deadline passed
  };

  /// Starts `arguments`, the first of which is looked up in PATH. Throws: DoorError if there is no process to be had.
  explicit ChildProcess(std::vector<std::string> arguments, const ChildOptions& options = {});
  /// Starts `sh -c command`.
  explicit ChildProcess(const std::string& command, const ChildOptions& options = {})
      : ChildProcess(std::vector<std::string>{"/bin/sh", "-c", command}, options) {}
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Writes all `parts` and reads until `reply` is complete, each as far as the pipes allow. Without `reply` it only
  /// writes. A program that replies before it has read all of `parts` may read later contents of their memory.
  /// Throws: what `reply` throws. Cost: of large parts one copy, by the program that reads them.
  Exchange exchange(std::span<const std::span<const std::byte>> parts, ReplySink* reply, Clock::time_point deadline);

  /// Closes the child's standard input.
  void close_input();
  /// Whether the child has ended of itself before `deadline`.
  bool ended(Clock::time_point deadline);
  /// Ends the child and all its processes. Returns how it ended: `exit code 3`, `signal 11 (Segmentation fault)`,
  /// or `ended by the host`. The second call returns the same.
  std::string end();

  /// The last 4 KiB of what the child wrote to stderr.
  std::string_view error_tail() const { return tail_; }

 private:
  bool write_some(std::span<const std::span<const std::byte>>& parts, std::size_t& written);
  void drain_error();

  int input_ = -1, output_ = -1, error_ = -1, control_ = -1;
  pid_t guardian_ = -1;
  bool lends_pages_ = true;
  std::string tail_, how_;
};

}  // namespace draftproof::doors
