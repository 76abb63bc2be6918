// A program that listens on a Unix stream socket, reached by a connection of its own. The program is the caller's: the
// host ends the connection, never the program.
#pragma once

#include <string>

#include <draftproof/adapters/wire/byte_exchange.hpp>
#include <draftproof/adapters/wire/peer.hpp>

namespace draftproof::adapters {

class SocketPeer final : public Peer {
 public:
  /// Connects; waits until `deadline` while the listener's queue is full. Throws: DoorError with the path if it is too
  /// long or nothing listens there.
  SocketPeer(const std::string& path, Clock::time_point deadline);

  Exchange exchange(Parts parts, ReplySink* reply, Clock::time_point deadline) override {
    return bytes_.exchange(parts, reply, deadline);
  }
  /// The program reads an end of file, and can still write.
  void close_input() override;
  /// Whether the program has closed the connection.
  bool ended(Clock::time_point deadline) override;
  /// Closes the connection. Returns `the program closed the connection`, or by_host.
  std::string end() override;

 private:
  ByteExchange bytes_;
  int socket_ = -1;  // bytes_ owns it
  std::string how_;
};

}  // namespace draftproof::adapters
