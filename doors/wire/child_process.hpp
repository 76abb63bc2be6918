// A program in a process of its own, on pipes, that cannot stop its host: reads and writes have a deadline, what it
// writes to stderr is kept to a tail, and no process of it is left when it ends (guardian.hpp).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include <draftproof/doors/wire/byte_exchange.hpp>
#include <draftproof/doors/wire/peer.hpp>

namespace draftproof::doors {

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

}  // namespace draftproof::doors
