// A message of the wire protocol: fields, and arrays by name. It is written as a frame or as a line of JSON.
//
//   frame     u64 little-endian length, then a safetensors blob; the fields are the metadata string `message`
//   line      one JSON object; arrays are nested lists under their names. About 100 times slower
//   numbers   in lines: the shortest decimals that read back as the same double; a float is printed as the double it
//             equals; infinities as 1e999 and -1e999, which parsers of JSON read as such; not a number: null
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <nlohmann/json.hpp>

#include <draftproof/adapters/declaration.hpp>
#include <draftproof/adapters/wire/process.hpp>
#include <draftproof/captures/array.hpp>

namespace draftproof::adapters {

enum class Form { frames, lines };

/// An array in memory that this object does not own. A copy does not copy the elements.
struct Tensor {
  std::string name;
  DType dtype = DType::F32;
  std::vector<std::uint64_t> shape;
  std::span<const std::byte> bytes;  ///< row-major, aligned to the elements

  /// Returns the elements as T, which has the width of dtype.
  template <class T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
};

struct Message {
  nlohmann::json fields = nlohmann::json::object();
  std::vector<Tensor> tensors{};
  std::vector<std::unique_ptr<std::byte[]>> owned{};  ///< memory of tensors of a decoded message

  const Tensor* find(std::string_view name) const;
  /// Returns the field `name`, or null if it is absent.
  const nlohmann::json* field(std::string_view name) const {
    const auto found = fields.find(name);
    return found == fields.end() ? nullptr : &*found;
  }
};

/// Returns the type and shape, such as "f32 [2, 3]", or "nothing" for null.
std::string array_text(const Tensor* tensor);

/// Returns the array type for a C++ type of values: float, double, std::int32_t or std::int64_t.
template <class T>
inline constexpr DType dtype_of = std::is_floating_point_v<T> ? (sizeof(T) == 4 ? DType::F32 : DType::F64)
                                                              : (sizeof(T) == 4 ? DType::I32 : DType::I64);

/// Returns a tensor that refers to values, which must outlive it.
template <class T>
Tensor tensor_of(std::string name, std::vector<std::uint64_t> shape, std::span<const T> values) {
  return {.name = std::move(name), .dtype = dtype_of<T>, .shape = std::move(shape), .bytes = std::as_bytes(values)};
}

/// Returns the array type that belongs to a type in declarations.
DType array_type(Dtype dtype);

/// The bytes of a message to send. This object owns the header; the bytes of tensors stay in `message`. Tensors with
/// wider elements come first, so that each is aligned if the blob is aligned to 8.
class EncodedMessage {
 public:
  /// Throws: AdapterError if the size of a tensor in bytes does not fit its shape.
  EncodedMessage(const Message& message, Form form);
  EncodedMessage(const EncodedMessage&) = delete;
  EncodedMessage& operator=(const EncodedMessage&) = delete;

  Process::Parts parts() const { return parts_; }

 private:
  std::string head_;
  std::vector<std::span<const std::byte>> parts_;
};

/// Returns the message in the `blob` of a frame (without its length); its tensors refer to the blob. Throws:
/// AdapterError that names `place`.
Message decode_blob(std::span<const std::byte> blob, const std::string& place);

/// Returns the message as a line, with its line feed. Cost: a decimal conversion for each element.
std::string encode_line(const Message& message);

/// Returns the message in `line`. Lists under the names of the protocol's arrays become tensors: F64 for p, q, tape,
/// target and proposal, I64 for seeds, I32 for the others. I32 lists may have rows of unequal lengths: they are padded
/// with -1. Lists under other names stay fields. Throws: AdapterError that names `place`.
Message decode_line(std::string_view line, const std::string& place);

/// Size of the largest reply, by form.
struct ReplyLimit {
  std::uint64_t frame_bytes = 0, line_bytes = 0;
};

/// Reads one message at a time from the bytes of a program. The first eight bytes of the first message determine its
/// form: the length of a frame contains a zero byte, and a line of text does not. A message longer than the largest
/// reply is refused with an AdapterError before memory is allocated.
class MessageReader : public ByteSink {
 public:
  /// Begins with the next message; errors name `place`. Throws: AdapterError if bytes arrived before the request.
  void expect(ReplyLimit most, std::string place);

  std::span<std::byte> room() override;
  void filled(std::size_t count) override;
  bool complete() const override { return complete_; }

  /// Returns the complete message. Its tensors are valid until the next expect(). Throws: AdapterError if it is
  /// malformed.
  Message take();
  /// Form of the messages; empty before the first message.
  std::optional<Form> form() const { return form_; }
  /// Returns the beginning of an incomplete message, for error messages, or "nothing" if no byte has arrived.
  std::string beginning() const;

 private:
  void start_frame();
  void scan_line(std::size_t from);
  void reserve(std::size_t size);

  std::optional<Form> form_;
  ReplyLimit most_;
  std::string place_;
  std::array<std::byte, 8> head_{};  // length of a frame, or the first bytes of a line
  std::size_t head_size_ = 0;
  std::unique_ptr<std::byte[]> buffer_;  // blob of a frame, or a line and later bytes
  std::size_t capacity_ = 0, size_ = 0;
  std::size_t end_ = 0;  // size of the blob, or of the line with its line feed
  bool complete_ = false;
};

}  // namespace draftproof::adapters
