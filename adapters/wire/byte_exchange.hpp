// Bytes out and bytes in over descriptors that do not block, with a deadline: what all peers of the wire share.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <draftproof/adapters/wire/peer.hpp>

namespace draftproof::adapters {

/// Descriptors of one peer, which it owns. `output` is read, `input` is written: the names are the peer's.
class ByteExchange {
 public:
  ByteExchange() = default;
  ~ByteExchange() { close_all(); }
  ByteExchange(const ByteExchange&) = delete;
  ByteExchange& operator=(const ByteExchange&) = delete;

  void own(int input, int output, int error) {
    input_ = input;
    output_ = output;
    error_ = error;
  }
  /// As Peer::exchange(). Cost: of large parts one copy where `input` is a pipe, by the program that reads them; such
  /// a program may read later contents of their memory if it replies before it has read all of `parts`.
  Peer::Exchange exchange(Peer::Parts parts, ReplySink* reply, Peer::Clock::time_point deadline);
  void close_input();
  void close_all();

  /// Waits until `descriptor` has one of `events` or has hung up; keeps what comes on `error` meanwhile. False at the
  /// deadline.
  bool wait_for(int descriptor, short events, Peer::Clock::time_point deadline);
  /// Reads what `error` has.
  void drain_error();
  std::string_view error_tail() const { return tail_; }

 private:
  bool write_some(Peer::Parts& parts, std::size_t& written);

  int input_ = -1, output_ = -1, error_ = -1;
  bool lends_pages_ = true;
  std::string tail_;
};

/// Time left, in whole milliseconds as poll() takes them.
int milliseconds_to(Peer::Clock::time_point deadline);

}  // namespace draftproof::adapters
