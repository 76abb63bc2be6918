// Reads one message at a time from the bytes of a program. The first eight bytes of the first message say its form: the
// length of a frame has a zero byte, a line of text has none. A message longer than the request justifies is refused
// before memory is taken for it.
#pragma once

#include <array>
#include <memory>
#include <optional>

#include <draftproof/adapters/wire/message.hpp>
#include <draftproof/adapters/wire/peer.hpp>

namespace draftproof::adapters {

/// Largest reply, by form.
struct ReplyLimit {
  std::uint64_t frame_bytes = 0, line_bytes = 0;
};

class MessageReader : public ReplySink {
 public:
  /// Begins with the next message; `place` says in errors what it is. Throws: DoorError if bytes came unasked.
  void expect(ReplyLimit most, std::string place);

  std::span<std::byte> room() override;
  void filled(std::size_t count) override;
  bool complete() const override { return complete_; }

  /// The complete message. Tensors lie in this reader, until expect(). Throws: DoorError if it is malformed.
  Message take();
  /// Form of the messages; empty before the first.
  std::optional<Form> form() const { return form_; }
  /// Beginning of an incomplete message, for reports.
  std::string beginning() const;

 private:
  void start_frame();
  void scan_line(std::size_t from);
  void reserve(std::size_t size);

  std::optional<Form> form_;
  ReplyLimit most_;
  std::string place_;
  std::array<std::byte, 8> head_{};  // length of a frame, or the first bytes of all
  std::size_t head_size_ = 0;
  std::unique_ptr<std::byte[]> buffer_;  // blob of a frame, or a line and what follows it
  std::size_t capacity_ = 0, size_ = 0;
  std::size_t end_ = 0;  // of the blob, or of the line with its line feed
  bool complete_ = false;
};

}  // namespace draftproof::adapters
