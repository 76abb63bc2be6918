// A program that speaks the wire: it is started or connected to, its hello is read, then it answers one request at a time.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include <draftproof/adapters/wire/message.hpp>
#include <draftproof/adapters/wire/message_reader.hpp>
#include <draftproof/adapters/wire/peer.hpp>
#include <draftproof/adapters/wire/shared_region.hpp>

namespace draftproof::adapters {

/// The program ended, was silent, or wrote bytes that are no message. A child has been ended with all its processes, a
/// connection is closed.
class ChildLost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The program was lost because it was silent beyond the limit.
class ChildLate : public ChildLost {
 public:
  using ChildLost::ChildLost;
};

struct ConnectionOptions {
  std::chrono::milliseconds hello_limit{20'000};
  std::filesystem::path dump_folder{};  ///< requests are written here before they are sent; empty: nowhere
  ChildOptions child{};
};

class Connection {
 public:
  /// Starts the program, or connects to it, and reads its hello. Throws: DoorError if there is none within the limit, or
  /// if it declares another major version.
  /// Rows go through `region` if the program says that it maps it; null: never. It outlives the connection.
  Connection(Address address, ConnectionOptions options, SharedRegion* region = nullptr);
  /// Asks the program to end; ends a child, or the connection, a second later.
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  const Declaration& declaration() const { return declaration_; }
  Form form() const { return *reader_.form(); }
  /// Whether the program maps the region: it says so in frames, and has not failed to.
  bool shares_rows() const { return region_ != nullptr; }

  /// Sends `request`, with the field `id` added, and returns the reply; its tensors are valid until the next call.
  /// A program that finds no way to map the region is asked again in a frame, and so from then on.
  /// Throws: ChildLost, and DoorError if `request` cannot be sent or the id of the reply is another.
  Message ask(Message& request, ReplyLimit most, std::chrono::milliseconds limit);

  /// File with the last request, if there is a folder for it; shared rows are in it too.
  std::filesystem::path dump_file() const;

 private:
  [[noreturn]] void lose(const std::string& why, bool late = false);
  Message receive(std::span<const std::span<const std::byte>> parts, ReplyLimit most, const std::string& place,
                  std::chrono::milliseconds limit);
  void dump(std::span<const std::span<const std::byte>> parts) const;

  Address address_;
  ConnectionOptions options_;
  SharedRegion* region_;
  std::unique_ptr<Peer> peer_;
  MessageReader reader_;
  Declaration declaration_;
  std::int64_t last_id_ = 0;
};

}  // namespace draftproof::adapters
